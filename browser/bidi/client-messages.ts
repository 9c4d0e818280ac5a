import { z } from 'zod';

/** A command of WebDriver BiDi, as far as it must be understood here. */
const BidiCommand = z.looseObject({
  id: z.int().min(0),
  method: z.string().min(1).max(200),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type BidiCommand = z.infer<typeof BidiCommand>;

/** Error codes of WebDriver BiDi that are answered here; all others come from the mapper. */
type BidiErrorCode = 'invalid argument' | 'invalid session id' | 'session not created' | 'unknown error';

/** Reads a client's message; null when it is no command. */
export function readBidiCommand(text: string): BidiCommand | null {
  try {
    return BidiCommand.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** An answer that says a command has succeeded. */
export function bidiSuccess(id: number, result: Record<string, unknown>): string {
  return JSON.stringify({ type: 'success', id, result });
}

/** An answer that says why not; `id` is null where the command had none that can be read. */
export function bidiError(id: number | null, error: BidiErrorCode, message: string): string {
  return JSON.stringify({ type: 'error', id, error, message });
}
