import type { ReadField } from './reading.ts';

/** True for the type of a field that takes a one-time code, however it is delivered. */
export function asksForCode(type: ReadField['type']): boolean {
  return type === 'code' || type === 'totp_code';
}
