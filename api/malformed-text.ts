import { HoldfastError } from '../contract/errors.ts';

/** Maximum nesting of a body; no schema is half as deep. */
const MAX_DEPTH = 32;

/**
 * Rejects input that schemas cannot: NUL characters and lone surrogates, which the database and browsers reject, and nesting deep
 * enough to overflow the stack of a recursive reader. `part`: `body`, `query` or `path`, for the message.
 */
export function rejectMalformedText(part: string, input: unknown): void {
  const pending: { value: unknown; depth: number }[] = [{ value: input, depth: 0 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (depth > MAX_DEPTH)
      throw new HoldfastError('invalid_input', `${part}: is nested more than ${MAX_DEPTH} levels deep`);
    if (typeof value === 'string') rejectMalformedString(part, value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, entry] of Object.entries(value)) {
      if (!Array.isArray(value)) rejectMalformedString(part, key);
      pending.push({ value: entry, depth: depth + 1 });
    }
  }
}

function rejectMalformedString(part: string, text: string): void {
  if (text.includes('\0')) throw new HoldfastError('invalid_input', `${part}: contains a NUL character`);
  if (/\p{Surrogate}/u.test(text)) throw new HoldfastError('invalid_input', `${part}: contains invalid Unicode`);
}
