import type { ReadField } from './reading.ts';

/** True for the type of a field that takes a one-time code, whoever sends it or shows it. */
export function asksForCode(type: ReadField['type']): boolean {
  return type === 'code' || type === 'totp_code';
}
