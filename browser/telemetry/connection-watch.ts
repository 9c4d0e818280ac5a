import { randomUUID } from 'node:crypto';
import type { TelemetryEventData } from '../../contract/telemetry-events.ts';
import type { ClientCommand } from '../cdp/messages.ts';
import { summarizeCommand } from './command-summary.ts';
import type { SessionTelemetry } from './session-telemetry.ts';

/** Why a connection ended. */
export type DisconnectReason = TelemetryEventData<'cdp_disconnect'>['reason'];

const SERVICE = { kind: 'kernel_api' } as const;

/** Tells the telemetry of one client's connection through the CDP proxy. */
export interface ConnectionWatch {
  /** A message was messageRelayed, either way. */
  messageRelayed(): void;
  /** A command of the client that the browser gets to see (`Browser.close`: that it is spared). */
  command(command: ClientCommand): void;
  /** Only the first call counts. */
  closed(reason: DisconnectReason): void;
}

/** Begins with the connection. Commands cost a look into a table, and nothing while `control` is not captured. */
export function watchConnection(telemetry: SessionTelemetry): ConnectionWatch {
  const connectionId = randomUUID();
  const began = performance.now();
  let messages = 0;
  let leftOut = 0;
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
      if (telemetry.excluded().has(data.method)) leftOut += 1;
      else telemetry.emit('cdp_command', { kind: 'cdp', event: data.method }, data);
    },
    closed: (reason) => {
      if (!open) return;
      open = false;
      telemetry.emit('cdp_disconnect', SERVICE, {
        connection_id: connectionId,
        duration_ms: Math.round(performance.now() - began),
        message_count: messages,
        reason,
        ...(leftOut === 0 ? {} : { telemetry_excluded: leftOut }),
      });
    },
  };
}
