import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** How far the clock of who signs may be from ours, in milliseconds. */
const MAX_SKEW_MS = 15 * 60_000;

/** Whether Twilio has signed a request: its URL, and the posted values in the order of their names, under the auth token. */
export function isSignedByTwilio(
  secret: string,
  request: { url: string; values: Readonly<Record<string, string>>; signature: string },
): boolean {
  const signed = Object.entries(request.values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .reduce((all, [name, value]) => `${all}${name}${value}`, request.url);
  return isSame(request.signature, createHmac('sha1', secret).update(signed).digest('base64'));
}

/** Whether Mailgun has signed a request, and lately: its time and its token, under the webhook signing key. */
export function isSignedByMailgun(secret: string, values: Readonly<Record<string, string>>, now: Date): boolean {
  const { timestamp = '', token = '', signature = '' } = values;
  if (!(Math.abs(Number(timestamp) * 1000 - now.getTime()) <= MAX_SKEW_MS)) return false;
  return isSame(signature, createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex'));
}

/** Compares in constant time, whatever the lengths are. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
