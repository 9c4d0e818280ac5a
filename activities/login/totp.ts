import { Secret, TOTP } from 'otpauth';
import { readTotpSecret } from '../../contract/totp-secret.ts';
import type { Store } from '../../store/store.ts';
import { failure } from './faults.ts';

/** In the last seconds of a period a code may arrive too late: the next one is awaited (security.md). */
const LAST_SECONDS_MS = 4000;

/**
 * The current code of a credential's TOTP secret (RFC 6238), never the same period's twice: sites refuse a code that was
 * used. Waits up to a period where it must.
 */
export async function nextTotpCode(
  store: Pick<Store, 'totpUses'>,
  credentialId: string,
  secret: string,
  signal: AbortSignal,
): Promise<string> {
  const totp = totpOf(secret);
  for (;;) {
    const now = Date.now();
    const left = totp.remaining({ timestamp: now });
    if (left > LAST_SECONDS_MS && (await store.totpUses.claim(credentialId, totp.counter({ timestamp: now }))))
      return totp.generate({ timestamp: now });
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, Math.min(left + 50, 1000)));
  }
}

/** The current code of a secret that nobody has used yet. Waits for the next one where this one is about to end. */
export async function freshTotpCode(secret: string, signal: AbortSignal): Promise<string> {
  const totp = totpOf(secret);
  while (totp.remaining() <= LAST_SECONDS_MS) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return totp.generate();
}

function totpOf(text: string): TOTP {
  const parameters = readTotpSecret(text);
  if (parameters === null)
    throw failure('internal_error', 'the saved TOTP secret cannot be read; store it again', true);
  return new TOTP({ ...parameters, secret: Secret.fromBase32(parameters.secret) });
}
