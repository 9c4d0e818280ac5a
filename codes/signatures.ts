import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** Maximum clock skew of a signer, in milliseconds. */
const MAX_SKEW_MS = 15 * 60_000;

/** Verifies Twilio's signature (keyed with the auth token) over the URL and the posted values, sorted by name. */
export function isSignedByTwilio(
  secret: string,
  request: { url: string; values: Readonly<Record<string, string>>; signature: string },
): boolean {
  const signed = Object.entries(request.values)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .reduce((all, [name, value]) => `${all}${name}${value}`, request.url);
  return isEqual(request.signature, createHmac('sha1', secret).update(signed).digest('base64'));
}

/** Verifies Mailgun's signature (keyed with the webhook signing key) over timestamp and token, and that it is recent. */
export function isSignedByMailgun(secret: string, values: Readonly<Record<string, string>>, now: Date): boolean {
  const { timestamp = '', token = '', signature = '' } = values;
  if (!(Math.abs(Number(timestamp) * 1000 - now.getTime()) <= MAX_SKEW_MS)) return false;
  return isEqual(signature, createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex'));
}

/** Compares in constant time, for any lengths. */
function isEqual(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
