import { HoldfastError } from '../contract/errors.ts';

/** The resource that a path names. Throws `not_found` with `message` if it is missing: null, undefined, or false from a removal. */
export function requireFound<Found>(result: Found | null | undefined | false, message: string): Found {
  if (result === null || result === undefined || result === false) throw new HoldfastError('not_found', message);
  return result;
}

/** `input` without its undefined entries: zod's optional properties may hold `undefined`, those of our own types may not. */
export function omitUndefined<Shape extends object>(
  input: Shape,
): { [K in keyof Shape]: Exclude<Shape[K], undefined> } {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  // The mapped type keeps the optionality of `Shape`, so a dropped entry is one that may be absent.
  return Object.fromEntries(entries) as { [K in keyof Shape]: Exclude<Shape[K], undefined> };
}
