import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';

/** Most passkeys that one credential holds. */
export const MAX_PASSKEYS = 20;

/** Bytes in base64 of either alphabet, padded or not. Normalized to unpadded base64url, as in WebAuthn. */
const Bytes = (most: number) =>
  z
    .string()
    .max(Math.ceil(most / 3) * 4)
    .regex(/^[A-Za-z0-9+/_-]+={0,2}$/, 'must be base64url')
    .transform((text) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''));

/** WebAuthn's limits: 1023 bytes for a credential id, 64 for a user handle. The largest keys are RSA ones. */
const CredentialId = Bytes(1023);
const UserHandle = Bytes(64);
const PrivateKey = Bytes(4096).refine(isSigningKey, 'must be a P-256, RSA or Ed25519 key in PKCS#8 (DER)');
const RpId = z
  .string()
  .max(253)
  .regex(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, 'must be a host name in lower case, without a port');
const PersonName = z.string().max(500);

/** A passkey as sent by callers. Write-only except for {@link PasskeyName}. */
export const Passkey = z.strictObject({
  rp_id: RpId.describe('The site it belongs to; it is used nowhere else'),
  credential_id: CredentialId,
  user_handle: UserHandle,
  private_key: PrivateKey.describe('PKCS#8 (DER) in base64url'),
  sign_count: z
    .number()
    .int()
    .min(0)
    .max(0x7fff_ffff)
    .default(0)
    .describe('Signatures so far; 0 for a passkey that does not count them, as most do not'),
  user_name: PersonName.optional(),
  user_display_name: PersonName.optional(),
});
export type Passkey = z.infer<typeof Passkey>;

/** What a response shows of a passkey: both ids are known to the site. */
export const PasskeyName = z.strictObject({ credential_id: z.string(), rp_id: z.string() });
export type PasskeyName = z.infer<typeof PasskeyName>;

/** A passkey in the FIDO Credential Exchange Format, which excludes passkeys that count signatures. */
const ExchangedPasskey = z
  .object({
    type: z.literal('passkey'),
    credentialId: CredentialId,
    rpId: RpId,
    username: PersonName.optional(),
    userDisplayName: PersonName.optional(),
    userHandle: UserHandle,
    key: PrivateKey,
  })
  .transform(({ credentialId, rpId, username, userDisplayName, userHandle, key }): Passkey => ({
    rp_id: rpId,
    credential_id: credentialId,
    user_handle: userHandle,
    private_key: key,
    sign_count: 0,
    ...(username === undefined ? {} : { user_name: username }),
    ...(userDisplayName === undefined ? {} : { user_display_name: userDisplayName }),
  }));

const OtherCredential = z.object({ type: z.string().refine((type) => type !== 'passkey') }).transform(() => null);

/** An item of that format; credentials of other kinds are ignored. */
const ExchangedItem = z
  .object({
    credentials: z.array(z.union([ExchangedPasskey, OtherCredential])),
  })
  .transform(({ credentials }) => credentials.flatMap((each) => each ?? []));
const ExchangedAccount = z.object({ items: z.array(ExchangedItem) }).transform(({ items }) => items.flat());
const ExchangedDocument = z
  .object({ accounts: z.array(ExchangedAccount) })
  .transform(({ accounts }) => accounts.flat());

/** `passkeys` as sent: a list of either format, or a document, account or item of the exchange format. */
export const Passkeys = z
  .union([z.array(z.union([Passkey, ExchangedPasskey])), ExchangedDocument, ExchangedAccount, ExchangedItem])
  .refine(
    (passkeys) => passkeys.length <= MAX_PASSKEYS,
    `must hold ${MAX_PASSKEYS} passkeys or fewer; send only those of this site`,
  );

/** True for a key type that authenticators sign with. */
function isSigningKey(text: string): boolean {
  try {
    const key = createPrivateKey({ key: Buffer.from(text, 'base64url'), format: 'der', type: 'pkcs8' });
    const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
    return type === 'rsa' || type === 'ed25519' || (type === 'ec' && details?.namedCurve === 'prime256v1');
  } catch {
    return false;
  }
}
