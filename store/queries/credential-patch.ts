import { HoldfastError } from '../../contract/errors.ts';
import { MAX_PASSKEYS, type Passkey } from '../../contract/passkeys.ts';

/**
 * Changes to a credential. Removals apply first; then `values` are merged by key and `passkeys` by credential id.
 * `totpSecret: ''` removes the secret. A replaced value keeps its origin unless `origins` has a new one.
 */
export interface CredentialPatch {
  name?: string;
  removeValueKeys?: string[];
  values?: Record<string, string>;
  totpSecret?: string;
  removePasskeys?: string[];
  passkeys?: Passkey[];
  ssoProvider?: string | null;
  origins?: Record<string, string>;
}

/** The origins after a patch, for the remaining `keys`. A removed TOTP secret loses its origin. */
export function patchOrigins(
  stored: Record<string, string>,
  { origins, totpSecret }: CredentialPatch,
  keys: readonly string[],
): Record<string, string> {
  const left = new Set([...keys, ...(totpSecret === '' ? [] : ['totp_secret'])]);
  return Object.fromEntries(Object.entries({ ...stored, ...origins }).filter(([key]) => left.has(key)));
}

/** The passkeys after a patch; of equal credential ids the later one wins. Throws above the maximum number of passkeys. */
export function patchPasskeys(
  stored: Passkey[],
  patch: Pick<CredentialPatch, 'removePasskeys' | 'passkeys'>,
): Passkey[] {
  const removed = new Set(patch.removePasskeys);
  const left = stored.filter(({ credential_id: id }) => !removed.has(id));
  const after = new Map([...left, ...(patch.passkeys ?? [])].map((passkey) => [passkey.credential_id, passkey]));
  if (after.size > MAX_PASSKEYS)
    throw new HoldfastError(
      'invalid_request',
      `passkeys: a credential can have at most ${MAX_PASSKEYS} passkeys; remove one first`,
    );
  return [...after.values()];
}
