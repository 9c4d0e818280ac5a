import { randomUUID } from 'node:crypto';
import type { TelemetryEventData } from '../../contract/telemetry-events.ts';
import type { ClientCommand } from '../cdp/messages.ts';
import { summarizeCommand } from './commands/summarize.ts';
import type { SessionTelemetry } from './session-telemetry.ts';

/** Why a connection ended. */
export type DisconnectReason = TelemetryEventData<'cdp_disconnect'>['reason'];

const SERVICE = { kind: 'kernel_api' } as const;

/** Records a client's connection through the CDP proxy in the session's telemetry. */
interface ConnectionWatch {
  /** A message was relayed in either direction. */
  messageRelayed(): void;
  /** The client sent a command that was forwarded (or `Browser.close`, which is not). */
  command(command: ClientCommand): void;
  /** Only the first call counts. */
  closed(reason: DisconnectReason): void;
}

/** Records a new connection. Commands cost one table lookup, and nothing unless `control` is captured. */
export function watchConnection(telemetry: SessionTelemetry): ConnectionWatch {
  const connectionId = randomUUID();
  const startedAt = performance.now();
  let messages = 0;
  let excluded = 0;
  let open = true;
  telemetry.emit('cdp_connect', SERVICE, { connection_id: connectionId });
  return {
    messageRelayed: () => {
      messages += 1;
    },
    command: (command) => {
      if (!telemetry.captures('control')) return;
      const data = summarizeCommand(command, connectionId);
      if (data === null) return;
      if (telemetry.excluded().has(data.method)) excluded += 1;
      else telemetry.emit('cdp_command', { kind: 'cdp', event: data.method }, data);
    },
    closed: (reason) => {
      if (!open) return;
      open = false;
      telemetry.emit('cdp_disconnect', SERVICE, {
        connection_id: connectionId,
        duration_ms: Math.round(performance.now() - startedAt),
        message_count: messages,
        reason,
        ...(excluded === 0 ? {} : { telemetry_excluded: excluded }),
      });
    },
  };
}
