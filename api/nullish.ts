import { HoldfastError } from '../contract/errors.ts';

/**
 * What a path names; throws `not_found` with the message for what is not there, or not in the caller's scope: null, undefined, or
 * false where something was to be removed.
 */
export function requireFound<Found>(result: Found | null | undefined | false, message: string): Found {
  if (result === null || result === undefined || result === false) throw new HoldfastError('not_found', message);
  return result;
}

/**
 * `input` without its undefined entries. zod's optional properties may hold `undefined`, the types of our other rooms say
 * that an optional property is there or is not; this is the one place where the two meet.
 */
export function omitUndefined<Shape extends object>(
  input: Shape,
): { [K in keyof Shape]: Exclude<Shape[K], undefined> } {
  const entries = Object.entries(input).filter(([, value]) => value !== undefined);
  // The mapped type keeps the optional marks of `Shape`, so a dropped entry is one that may be absent.
  return Object.fromEntries(entries) as { [K in keyof Shape]: Exclude<Shape[K], undefined> };
}
