import { HoldfastError } from '../contract/errors.ts';

/**
 * What a path names; throws `not_found` with the message for what is not there, or not in the caller's scope: null, undefined, or
 * false where something was to be removed.
 */
export function found<Found>(result: Found | null | undefined | false, message: string): Found {
  if (result === null || result === undefined || result === false) throw new HoldfastError('not_found', message);
  return result;
}
