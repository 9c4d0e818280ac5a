import { SHOP_PASSKEY, TOKEN, type Answer, type Call } from './stand-ins.ts';

/** An item as `bw serve` writes it. */
export interface BitwardenItem extends Record<string, unknown> {
  revisionDate: string;
  login: Record<string, unknown> & { fido2Credentials?: Record<string, unknown>[] };
}

/** The shop's item of {@link bitwardenAnswers}. */
export function bitwardenItem(): BitwardenItem {
  return {
    object: 'item',
    id: 'b1',
    name: 'Shop',
    notes: 'kept as it is',
    type: 1,
    reprompt: 0,
    favorite: true,
    organizationId: null,
    folderId: 'f1',
    collectionIds: [],
    passwordHistory: [{ lastUsedDate: '2025-05-05T05:05:05.000Z', password: 'before' }],
    revisionDate: '2026-01-02T03:04:05.000Z',
    deletedDate: null,
    login: {
      username: 'ann',
      password: 'pw-bw',
      totp: 'JBSWY3DPEHPK3PXP',
      uris: [{ match: null, uri: 'https://shop.example' }],
      fido2Credentials: [
        bitwardenPasskey(),
        { ...bitwardenPasskey(), credentialId: 'b64.ZnJvbSBlbHNld2hlcmU', counter: 9 },
        { ...bitwardenPasskey(), keyValue: 'bm90IGEga2V5' },
      ],
    },
    fields: [{ name: 'sso_provider', value: 'github', type: 0, linkedId: null }],
  };
}

/** The item of a Bitwarden account at its server, and as `bw serve` has it since it last was in step. */
export interface BitwardenVault {
  server: BitwardenItem;
  local: BitwardenItem;
}

/** A vault that is in step. */
export function bitwardenVault(item = bitwardenItem()): BitwardenVault {
  return { server: item, local: structuredClone(item) };
}

/** What another of the account's devices saves, at the server alone; as late as the server's clock stands, or at `at`. */
export function saveElsewhere(vault: BitwardenVault, change: Partial<BitwardenItem>, at = new Date()): void {
  vault.server = { ...structuredClone(vault.server), ...change, revisionDate: at.toISOString() };
}

/** The server takes revisions that are as near as this for the same, in milliseconds. */
const SAME_REVISION_MS = 1000;

/**
 * `bw serve` with an unlocked vault. `PUT` hands the item and its `revisionDate` on to the server, which refuses an item that has been
 * changed since; answers are those of what `bw serve` has itself.
 */
export function bitwardenVaultAnswers(vault: BitwardenVault): (call: Call) => Answer {
  const folders = [
    { object: 'folder', id: null, name: 'No Folder' },
    { object: 'folder', id: 'f1', name: 'Work' },
  ];
  const done = (data: unknown): Answer => [200, { success: true, data }];
  return ({ method, path, headers, body }) => {
    if (headers.authorization !== `Bearer ${TOKEN}`) return [401, {}];
    if (path === '/list/object/folders') return done({ object: 'list', data: folders });
    if (path === '/list/object/items') {
      const card = { ...vault.local, id: 'b2', name: 'Card', type: 3, login: null };
      return done({ object: 'list', data: [vault.local, card] });
    }
    if (method === 'POST' && path === '/sync') {
      vault.local = structuredClone(vault.server);
      return done({ noColor: false, object: 'message', title: 'Syncing complete.', message: null });
    }
    if (path !== '/object/item/b1') return [400, { success: false, message: 'Not found.' }];
    if (method === 'PUT') {
      const sent = JSON.parse(body) as BitwardenItem;
      const apart = Date.parse(vault.server.revisionDate) - Date.parse(sent.revisionDate);
      if (Math.abs(apart) > SAME_REVISION_MS) return [400, { success: false, message: OUT_OF_DATE }];
      vault.server = { ...sent, revisionDate: new Date().toISOString() };
      vault.local = structuredClone(vault.server);
    }
    return done(vault.local);
  };
}

const OUT_OF_DATE =
  'The cipher you are updating is out of date. Please save your work, sync your vault, and try again.';

/** The same, as nobody has changed it. */
export const bitwardenAnswers = (call: Call): Answer => bitwardenVaultAnswers(bitwardenVault())(call);

/** As Bitwarden's clients write it, whose ids are UUIDs and whose numbers are texts. */
function bitwardenPasskey() {
  const { rp_id: rpId, user_handle: userHandle, private_key: keyValue, user_name: userName } = SHOP_PASSKEY;
  const id = Buffer.from(SHOP_PASSKEY.credential_id, 'base64url').toString('hex');
  const credentialId = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const kind = { keyType: 'public-key', keyAlgorithm: 'ECDSA', keyCurve: 'P-256', discoverable: 'true' };
  return { credentialId, ...kind, keyValue, rpId, userHandle, userName, counter: '0', userDisplayName: null };
}
