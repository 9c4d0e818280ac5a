import type { ReadField } from './reading.ts';

/** True for a field whose value serves once, so that it is neither stored nor taken from a credential: a code or a captcha. */
export function isOneTime({ type, captcha }: Pick<ReadField, 'type' | 'captcha'>): boolean {
  return asksForCode(type) || captcha === true;
}

/** True for the type of a field that takes a one-time code, however it is delivered. */
export function asksForCode(type: ReadField['type']): boolean {
  return type === 'code' || type === 'totp_code';
}
