import { HoldfastError } from '../contract/errors.ts';

/** Deepest nesting of a body: no shape of ours is half as deep. */
const MAX_DEPTH = 32;

/**
 * Refuses input that no schema can describe but that must not go further: NUL characters and lone surrogates (the database
 * and browsers refuse them) and nesting so deep that a recursive reader would run out of stack.
 * @param what `body`, `query` or `path`, for the message.
 */
export function rejectMalformedText(what: string, input: unknown): void {
  const waiting: { value: unknown; depth: number }[] = [{ value: input, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next;
    if (depth > MAX_DEPTH) throw new HoldfastError('invalid_input', `${what}: is nested deeper than ${MAX_DEPTH}`);
    if (typeof value === 'string') rejectMalformedString(what, value);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, entry] of Object.entries(value)) {
      if (!Array.isArray(value)) rejectMalformedString(what, key);
      waiting.push({ value: entry, depth: depth + 1 });
    }
  }
}

function rejectMalformedString(what: string, text: string): void {
  if (text.includes('\0')) throw new HoldfastError('invalid_input', `${what}: a text holds a NUL character`);
  if (/\p{Surrogate}/u.test(text)) throw new HoldfastError('invalid_input', `${what}: a text is not valid Unicode`);
}
