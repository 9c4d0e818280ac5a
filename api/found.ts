import { HoldfastError } from '../contract/errors.ts';

/** What a path names; throws `not_found` with the message for what is not there, or not in the caller's scope. */
export function found<Found>(result: Found | null, message: string): Found {
  if (result === null) throw new HoldfastError('not_found', message);
  return result;
}
