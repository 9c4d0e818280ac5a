import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { Passkey } from '../contract/passkeys.ts';

/**
 * A passkey as Bitwarden writes it. Its id is a UUID, or `b64.` and base64url for one that comes from elsewhere; its count a text.
 * What else it has stays beside these: it is sent back with the item.
 */
export const Fido2Credential = z.looseObject({
  credentialId: z.string(),
  keyValue: z.string(),
  rpId: z.string(),
  userHandle: z.string().nullish(),
  userName: z.string().nullish(),
  userDisplayName: z.string().nullish(),
  counter: z.union([z.string(), z.number()]),
});
export type Fido2Credential = z.infer<typeof Fido2Credential>;

const FROM_ELSEWHERE = 'b64.';

/** One that a browser can use; null for a key of a kind that it has not, or without a user. */
export function passkeyOf(found: Fido2Credential): Passkey | null {
  const { credentialId: id, userName, userDisplayName } = found;
  const passkey = Passkey.safeParse({
    rp_id: found.rpId,
    credential_id: id.startsWith(FROM_ELSEWHERE)
      ? id.slice(FROM_ELSEWHERE.length)
      : Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url'),
    user_handle: found.userHandle,
    private_key: found.keyValue,
    sign_count: Number(found.counter),
    ...(typeof userName === 'string' ? { user_name: userName } : {}),
    ...(typeof userDisplayName === 'string' ? { user_display_name: userDisplayName } : {}),
  });
  return passkey.success ? passkey.data : null;
}

/** A passkey as Bitwarden's apps sign with it; null for a key that is none of P-256, which is all that they know. */
export function fido2CredentialOf(passkey: Passkey, createdAt: Date): Fido2Credential | null {
  const der = Buffer.from(passkey.private_key, 'base64url');
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return null;
  return {
    credentialId: `${FROM_ELSEWHERE}${passkey.credential_id}`,
    keyType: 'public-key',
    keyAlgorithm: 'ECDSA',
    keyCurve: 'P-256',
    keyValue: passkey.private_key,
    rpId: passkey.rp_id,
    rpName: passkey.rp_id,
    userHandle: passkey.user_handle,
    userName: passkey.user_name ?? null,
    userDisplayName: passkey.user_display_name ?? null,
    counter: String(passkey.sign_count),
    discoverable: 'true',
    creationDate: createdAt.toISOString(),
  };
}
