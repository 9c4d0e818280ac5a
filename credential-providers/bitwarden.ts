import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { MAX_PASSKEYS, Passkey } from '../contract/passkeys.ts';
import { requestJson, baseUrl, itemNotFound, tokenRejected } from './request.ts';
import { uniquePasskeys, hasPasskey, passkeysIn, secretsOf } from './item-fields.ts';
import { ItemChanged, type ItemSecrets, type ProviderAccount, type SecretStore } from './secret-store.ts';
import { createPrivateKey } from 'node:crypto';

/** The type of login items. */
const LOGIN = 1;
/** The type of masked fields. */
const HIDDEN = 1;
const NO_FOLDER = 'No Folder';

/**
 * Bitwarden cannot distinguish revisions within one second, Vaultwarden within almost two. An item that was just changed is read
 * again after this time (milliseconds), so that any later change is detected.
 */
const SAME_REVISION_MS = 2500;
/** An item that was last changed longer ago than this (milliseconds) need not be read again, whatever the clock skew. */
const SETTLED_AFTER_MS = 60_000;
/** Read attempts for an item that keeps changing. */
const MAX_READS = 3;

/** A passkey in Bitwarden's format. Its id is a UUID, or `b64.` and base64url for an imported one. Loose, like the item. */
const Fido2Credential = z.looseObject({
  credentialId: z.string(),
  keyValue: z.string(),
  rpId: z.string(),
  userHandle: z.string().nullish(),
  userName: z.string().nullish(),
  userDisplayName: z.string().nullish(),
  counter: z.union([z.string(), z.number()]),
});
type Fido2Credential = z.infer<typeof Fido2Credential>;

const FOREIGN_ID_PREFIX = 'b64.';

const ListOf = <Entry extends z.ZodType>(entry: Entry) => z.object({ data: z.object({ data: z.array(entry) }) });
const Folder = z.object({ id: z.string().nullable(), name: z.string() });
/** Loose, because the whole item is sent back when a passkey is added. */
const Item = z.looseObject({
  id: z.string(),
  name: z.string(),
  type: z.int(),
  folderId: z.string().nullish(),
  revisionDate: z.string().nullish(),
  deletedDate: z.string().nullish(),
  login: z
    .looseObject({
      username: z.string().nullish(),
      password: z.string().nullish(),
      totp: z.string().nullish(),
      fido2Credentials: z.array(Fido2Credential).nullish(),
      uris: z.array(z.looseObject({ uri: z.string().nullish() })).nullish(),
    })
    .nullish(),
  fields: z.array(z.looseObject({ name: z.string().nullish(), value: z.string().nullish() })).nullish(),
});
type Item = z.infer<typeof Item>;

const OneItem = z.object({ data: Item });
const Synced = z.object({ success: z.literal(true) });
const Rejection = z.object({ message: z.string() });

/**
 * Bitwarden and Vaultwarden, by `bw serve` with an unlocked vault. Paths are `folder/item` or just the item. `bw serve` has no
 * token of its own: the configured one is sent as a bearer token to the proxy in front of it.
 *
 * Items are written whole, with the `revisionDate` they were read with, so that the server rejects an item that has been changed
 * since. `bw serve` may have stale data, so it is told to `sync` first.
 */
export function createBitwarden(account: ProviderAccount, dispatcher: Dispatcher, clock: () => number): SecretStore {
  const headers = { authorization: `Bearer ${account.token}`, accept: 'application/json' };
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) =>
    requestJson(dispatcher, { url: new URL(path, baseUrl(account)), headers, classifyRejection }, schema);

  const read = async (id: string): Promise<Item> => {
    const found = await get(`object/item/${encodeURIComponent(id)}`, OneItem);
    if (found === null) throw itemNotFound();
    return found.data;
  };
  const sync = () =>
    requestJson(
      dispatcher,
      { method: 'POST', url: new URL('sync', baseUrl(account)), headers, classifyRejection: () => 'busy' },
      Synced,
    );
  /** Reads an item from the server long enough after its last change for the next change to be detected. */
  const readSettled = async (id: string): Promise<Item> => {
    let before: Item | null = null;
    for (let attempt = 0; attempt < MAX_READS; attempt += 1) {
      if (attempt > 0) await sleep(SAME_REVISION_MS);
      await sync();
      const item = await read(id);
      if (isSettled(item, clock()) || item.revisionDate === before?.revisionDate) return item;
      before = item;
    }
    throw new ItemChanged();
  };
  const write = async (item: Item): Promise<Item> => {
    const url = new URL(`object/item/${encodeURIComponent(item.id)}`, baseUrl(account));
    const content = { 'content-type': 'application/json' };
    const body = JSON.stringify(item);
    const written = await requestJson(
      dispatcher,
      { method: 'PUT', url, headers: { ...headers, ...content }, body, classifyRejection },
      OneItem,
    );
    if (written === null) throw itemNotFound();
    return written.data;
  };
  const addPasskey = async (id: string, passkey: Passkey): Promise<void> => {
    const item = await readSettled(id);
    if (hasPasskey(secretsIn(item), passkey)) return;
    if (!takesPasskeys(item)) throw tokenRejected();
    const written = await write(withPasskey(item, passkey, new Date(clock())));
    // Without the passkey in the response, the caller must check and write again.
    if (!hasPasskey(secretsIn(written), passkey)) throw new ItemChanged();
  };

  const folders = async () => {
    const listed = await get('list/object/folders', ListOf(Folder));
    return (listed?.data.data ?? []).map(({ id, name }) => ({ id: id ?? '', name: id === null ? NO_FOLDER : name }));
  };
  return {
    vaults: folders,
    items: async () => {
      const names = new Map((await folders()).map(({ id, name }) => [id, name]));
      const listed = await get('list/object/items', ListOf(Item));
      return (listed?.data.data ?? [])
        .filter(({ type }) => type === LOGIN)
        .map(({ id, name, folderId, login }) => {
          const folder = names.get(folderId ?? '') ?? NO_FOLDER;
          return {
            id,
            path: (folderId ?? '') === '' ? name : `${folder}/${name}`,
            title: name,
            vault_id: folderId ?? '',
            vault_name: folder,
            urls: (login?.uris ?? []).flatMap(({ uri }) => uri ?? []),
          };
        });
    },
    idOf: () => null,
    open: async (id) => {
      const item = await read(id);
      const secrets = secretsIn(item);
      if (!takesPasskeys(item)) return secrets;
      return { ...secrets, addPasskey: (passkey) => addPasskey(id, passkey) };
    },
  };
}

function secretsIn({ login, fields, revisionDate }: Item): ItemSecrets {
  const named = (fields ?? []).map(({ name, value }) => [name ?? '', value ?? ''] as const);
  const values = {
    username: login?.username ?? '',
    password: login?.password ?? '',
    totp: login?.totp ?? '',
  };
  const urls = (login?.uris ?? []).flatMap(({ uri }) => uri ?? []);
  const version = Date.parse(revisionDate ?? '') || 0;
  const secrets = secretsOf({ ...values, ...Object.fromEntries(named) }, version, urls);
  const passkeys = (login?.fido2Credentials ?? []).flatMap((each) => passkeyOf(each) ?? []);
  return { ...secrets, passkeys: uniquePasskeys([...passkeysIn(named), ...passkeys]) };
}

/**
 * False for anything but a login, for an item in the trash or without a revision, and for a `bw` that is too old to know passkeys: it
 * would drop the existing ones.
 */
function takesPasskeys(item: Item): boolean {
  const { type, login, revisionDate, deletedDate } = item;
  const isWritable = type === LOGIN && typeof revisionDate === 'string' && typeof deletedDate !== 'string';
  const knowsPasskeys = Array.isArray(login?.fido2Credentials);
  return isWritable && knowsPasskeys && secretsIn(item).passkeys.length < MAX_PASSKEYS;
}

/** Adds a passkey to an item: as a Bitwarden passkey, or in a custom field if Bitwarden does not support its key type. */
function withPasskey(item: Item, passkey: Passkey, now: Date): Item {
  const made = fido2CredentialOf(passkey, now);
  if (made !== null)
    return { ...item, login: { ...item.login, fido2Credentials: [...(item.login?.fido2Credentials ?? []), made] } };
  const field = { name: 'passkey', value: JSON.stringify(passkey), type: HIDDEN };
  return { ...item, fields: [...(item.fields ?? []), field] };
}

function isSettled({ revisionDate }: Item, now: number): boolean {
  return Math.abs(now - Date.parse(revisionDate ?? '')) > SETTLED_AFTER_MS;
}

/** `bw serve` responds with 400 to every failure, with its own message or the server's. */
function classifyRejection(body: unknown): 'missing' | 'changed' | null {
  const message = Rejection.safeParse(body).data?.message ?? '';
  if (/out of date/i.test(message)) return 'changed';
  return /^not found/i.test(message) ? 'missing' : null;
}

/** Converts a Bitwarden passkey; null for an unsupported key type or a missing user. */
function passkeyOf(found: Fido2Credential): Passkey | null {
  const { credentialId: id, userName, userDisplayName } = found;
  const passkey = Passkey.safeParse({
    rp_id: found.rpId,
    credential_id: id.startsWith(FOREIGN_ID_PREFIX)
      ? id.slice(FOREIGN_ID_PREFIX.length)
      : Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url'),
    user_handle: found.userHandle,
    private_key: found.keyValue,
    sign_count: Number(found.counter),
    ...(typeof userName === 'string' ? { user_name: userName } : {}),
    ...(typeof userDisplayName === 'string' ? { user_display_name: userDisplayName } : {}),
  });
  return passkey.success ? passkey.data : null;
}

/** Converts a passkey to Bitwarden's format; null unless its key is P-256, the only type that Bitwarden supports. */
function fido2CredentialOf(passkey: Passkey, createdAt: Date): Fido2Credential | null {
  const der = Buffer.from(passkey.private_key, 'base64url');
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return null;
  return {
    credentialId: `${FOREIGN_ID_PREFIX}${passkey.credential_id}`,
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
