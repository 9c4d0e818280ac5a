import type { CdpCommandData, CdpCommandMethod } from '../../../contract/telemetry-commands.ts';
import type { ClientCommand } from '../../cdp/messages.ts';
import { BROWSER_COMMANDS } from './browser.ts';
import { INPUT_COMMANDS } from './input.ts';
import { PAGE_COMMANDS } from './page.ts';
import { identifier, type Summary } from './readers.ts';

/**
 * The fields recorded of each command. Parameters without a reader are never accessed, so that texts, URLs, paths and values
 * cannot get into an event by mistake.
 */
const SUMMARIES: Record<CdpCommandMethod, Partial<Summary>> = {
  ...INPUT_COMMANDS,
  ...PAGE_COMMANDS,
  ...BROWSER_COMMANDS,
};
const BY_METHOD = new Map<string, Partial<Summary>>(Object.entries(SUMMARIES));

/** The event data of a command; null if it is not recorded, or lacks required parameters (the browser will refuse it). */
export function summarizeCommand(command: ClientCommand, connectionId: string): CdpCommandData | null {
  const summary = BY_METHOD.get(command.method);
  if (summary === undefined) return null;
  const params = command.params ?? {};
  const data: Record<string, unknown> = { method: command.method };
  for (const [name, read] of Object.entries(summary.required ?? {})) {
    const value = read(params);
    if (value === undefined) return null;
    data[name] = value;
  }
  for (const [name, read] of Object.entries(summary.optional ?? {})) {
    const value = read(params);
    if (value !== undefined) data[name] = value;
  }
  if (Number.isSafeInteger(command.id)) data['command_id'] = command.id;
  data['connection_id'] = connectionId;
  const session = identifier(command.sessionId);
  if (session !== undefined) data['session_id'] = session;
  // The table has the right reader for every field of the method; a test checks it against the schema.
  return data as CdpCommandData;
}
