import { HoldfastError } from '../../contract/errors.ts';
import { MAX_PASSKEYS, type Passkey } from '../../contract/passkeys.ts';

/**
 * Changes of a credential: removals first, then `values` merged, and `passkeys` by their credential ids; `totpSecret: ''`
 * removes the secret. A value that replaces one keeps its origin, unless `origins` names another.
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

/** Origins of what is left, with those of the patch. A secret that is removed loses its own. */
export function originsAfter(
  stored: Record<string, string>,
  { origins, totpSecret }: CredentialPatch,
  keys: readonly string[],
): Record<string, string> {
  const left = new Set([...keys, ...(totpSecret === '' ? [] : ['totp_secret'])]);
  return Object.fromEntries(Object.entries({ ...stored, ...origins }).filter(([key]) => left.has(key)));
}

/** What is left, with those of the patch; the later of two with one credential id counts. Throws where that is more than a credential holds. */
export function passkeysAfter(
  stored: Passkey[],
  patch: Pick<CredentialPatch, 'removePasskeys' | 'passkeys'>,
): Passkey[] {
  const removed = new Set(patch.removePasskeys);
  const left = stored.filter(({ credential_id: id }) => !removed.has(id));
  const after = new Map([...left, ...(patch.passkeys ?? [])].map((passkey) => [passkey.credential_id, passkey]));
  if (after.size > MAX_PASSKEYS)
    throw new HoldfastError('invalid_request', `A credential holds ${MAX_PASSKEYS} passkeys at most; remove one first`);
  return [...after.values()];
}
