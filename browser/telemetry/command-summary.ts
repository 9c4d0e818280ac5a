import type { CdpCommandData, CdpCommandMethod } from '../../contract/telemetry-commands.ts';
import type { ClientCommand } from '../cdp/messages.ts';
import { BROWSER_COMMANDS } from './commands/browser.ts';
import { INPUT_COMMANDS } from './commands/input.ts';
import { PAGE_COMMANDS } from './commands/page.ts';
import type { Summary } from './commands/readers.ts';
import { identifier } from './commands/readers.ts';

/**
 * What may be told of each command. Whatever is not named here is never looked at: texts, URLs, paths, templates and
 * values cannot come into an event by mistake.
 */
const SUMMARIES: Record<CdpCommandMethod, Partial<Summary>> = {
  ...INPUT_COMMANDS,
  ...PAGE_COMMANDS,
  ...BROWSER_COMMANDS,
};
const BY_METHOD = new Map<string, Partial<Summary>>(Object.entries(SUMMARIES));

/**
 * The data of a command's event; null for a command that has none, and for one that lacks what it cannot do without (the
 * browser will refuse it). Pure.
 */
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
  // The table above has a reader of the right kind for every field of the method; a test holds it to the schema.
  return data as CdpCommandData;
}
