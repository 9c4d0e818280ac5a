import { z } from 'zod';

/** A WebDriver BiDi command, as far as the service needs to understand it. */
const BidiCommand = z.looseObject({
  id: z.int().min(0),
  method: z.string().min(1).max(200),
  params: z.record(z.string(), z.unknown()).default({}),
});
export type BidiCommand = z.infer<typeof BidiCommand>;

/** WebDriver BiDi error codes sent by the service; all others come from the mapper. */
type BidiErrorCode = 'invalid argument' | 'invalid session id' | 'session not created' | 'unknown error';

/** Parses a client's message; null if it is not a command. */
export function readBidiCommand(text: string): BidiCommand | null {
  try {
    return BidiCommand.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** A success response. */
export function bidiSuccess(id: number, result: Record<string, unknown>): string {
  return JSON.stringify({ type: 'success', id, result });
}

/** An error response; `id` is null if the command's id could not be read. */
export function bidiError(id: number | null, error: BidiErrorCode, message: string): string {
  return JSON.stringify({ type: 'error', id, error, message });
}
