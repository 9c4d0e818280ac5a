import { Passkey } from '../../../contract/passkeys.ts';
import { normalizeTotpSecret } from '../../../contract/totp-secret.ts';
import type { CredentialPatch } from '../../../store/queries/credential-patch.ts';

/** A value that a person gave, by the name that it is saved under, and the origin of the document it was typed into. */
export interface TypedValue {
  ref: string;
  origin: string;
  text: string;
}

/** Typed values in the shape in which submissions are sealed: a name holds the `ref` and the origin. */
export function packTyped(typed: readonly TypedValue[]): Record<string, string> {
  return Object.fromEntries(typed.map(({ ref, origin, text }) => [`${ref} ${origin}`, text]));
}

/** What `packTyped` has packed. */
export function unpackTyped(values: Record<string, string>): TypedValue[] {
  return Object.entries(values).map(([name, text]) => {
    // An origin holds no space; a `ref` may.
    const at = name.lastIndexOf(' ');
    return { ref: name.slice(0, at), origin: name.slice(at + 1), text };
  });
}

/** A created passkey in the shape of a typed value, so that it is kept as one until the login proves good. */
export function passkeyToTypedValue(passkey: Passkey): TypedValue {
  return { ref: `${PASSKEY}${passkey.credential_id}`, origin: passkey.rp_id, text: JSON.stringify(passkey) };
}

const PASSKEY = 'passkey:';

/**
 * What a credential learns from a login. `chosen`: the provider that was taken on the way and the address of the page that
 * offered it. The credential is the provider's when its password (or else what was typed last) went to another place.
 */
export function toCredentialPatch(
  learned: readonly TypedValue[],
  chosen: { provider: string; at: string } | null,
): Required<Pick<CredentialPatch, 'values' | 'origins' | 'ssoProvider'>> &
  Pick<CredentialPatch, 'totpSecret' | 'passkeys'> {
  const typed = learned.filter(({ ref }) => !ref.startsWith(PASSKEY));
  const passkeys = learned
    .filter(({ ref }) => ref.startsWith(PASSKEY))
    .map(({ text }) => Passkey.parse(JSON.parse(text)));
  const secret = typed.find(({ ref }) => ref === 'totp_secret');
  const totpSecret = secret === undefined ? null : normalizeTotpSecret(secret.text);
  const decisive = typed.find(({ ref }) => ref === 'password') ?? typed.at(-1);
  const isProviders =
    chosen !== null &&
    URL.canParse(chosen.at) &&
    decisive !== undefined &&
    new URL(chosen.at).origin !== decisive.origin;
  return {
    values: Object.fromEntries(typed.filter((each) => each !== secret).map(({ ref, text }) => [ref, text])),
    origins: Object.fromEntries(typed.map(({ ref, origin }) => [ref, origin])),
    ssoProvider: isProviders ? chosen.provider : null,
    ...(totpSecret === null ? {} : { totpSecret }),
    ...(passkeys.length === 0 ? {} : { passkeys }),
  };
}
