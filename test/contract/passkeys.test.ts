import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MAX_PASSKEYS, Passkeys } from '../../contract/passkeys.ts';
import { newPasskey } from '../setup/passkey.ts';

const passkey = newPasskey('one', { user_name: 'ann', user_display_name: 'Ann' });
/** The same in the FIDO Credential Exchange Format, as written by a password manager. */
const exchanged = {
  type: 'passkey',
  credentialId: passkey.credential_id,
  rpId: passkey.rp_id,
  username: passkey.user_name,
  userDisplayName: passkey.user_display_name,
  userHandle: passkey.user_handle,
  key: passkey.private_key,
  fido2Extensions: { largeBlob: { uncompressedSize: 3, data: 'AAAA' } },
};
const item = {
  id: 'aXRlbQ',
  title: 'Shop',
  creationAt: 1_760_000_000,
  scope: { urls: ['https://shop.example'], androidApps: [] },
  credentials: [{ type: 'basic-auth', username: { fieldType: 'string', value: 'ann' } }, exchanged],
};
const account = { id: 'YWNj', username: 'ann', email: 'ann@shop.example', collections: [], items: [item, item] };
const header = {
  version: { major: 1, minor: 0 },
  exporterRpId: 'manager.example',
  exporterDisplayName: 'Manager',
  timestamp: 1_760_000_000,
  accounts: [account],
};

describe('imported passkeys', () => {
  it.each([
    ['plain ones', [passkey], [passkey]],
    ['plain ones in ordinary base64', [{ ...passkey, private_key: padded(passkey.private_key) }], [passkey]],
    ['exchanged ones in a list', [exchanged], [passkey]],
    ['an exchanged item, without its other credentials', item, [passkey]],
    ['an account', account, [passkey, passkey]],
    ['a whole document', header, [passkey, passkey]],
  ])('%s', (_name, sent, expected) => {
    expect(Passkeys.parse(sent)).toEqual(expected);
  });

  it('do not count signatures unless they say so', () => {
    const { sign_count: _, ...uncounted } = passkey;
    expect(Passkeys.parse([uncounted, { ...passkey, sign_count: 7 }])).toMatchObject([
      { sign_count: 0 },
      { sign_count: 7 },
    ]);
  });

  const otherCurve = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
  it.each([
    ['no key', { ...passkey, private_key: 'AAAA' }],
    ['a key that nobody signs with', { ...passkey, private_key: der(otherCurve) }],
    ['an address as its site', { ...passkey, rp_id: 'https://shop.example' }],
    ['no credential id', { ...passkey, credential_id: '' }],
    ['a handle that is too long', { ...passkey, user_handle: 'A'.repeat(100) }],
    ['an exchanged one without its key', { ...exchanged, key: undefined }],
    ['something unknown', { ...passkey, note: 'x' }],
  ])('are refused with %s', (_name, sent) => {
    const { success, error } = Passkeys.safeParse([sent]);
    expect(success).toBe(false);
    expect(JSON.stringify(error)).not.toContain(passkey.private_key);
  });

  it('are rejected in an item that holds one without its key, and above the limit', () => {
    expect(Passkeys.safeParse({ ...item, credentials: [{ ...exchanged, key: undefined }] }).success).toBe(false);
    expect(Passkeys.safeParse(Array.from({ length: MAX_PASSKEYS + 1 }, () => passkey)).success).toBe(false);
  });
});

function padded(text: string): string {
  return Buffer.from(text, 'base64url').toString('base64');
}

function der(key: KeyObject): string {
  return key.export({ format: 'der', type: 'pkcs8' }).toString('base64url');
}
