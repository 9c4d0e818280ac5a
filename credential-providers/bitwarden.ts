import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { MAX_PASSKEYS, type Passkey } from '../contract/passkeys.ts';
import { Fido2Credential, fido2CredentialOf, passkeyOf } from './bitwarden-passkeys.ts';
import { ask, baseUrl, noSuchItem, refused } from './http.ts';
import { distinct, holds, passkeysIn, secretsOf } from './item-fields.ts';
import { ItemChanged, type ItemSecrets, type ProviderAccount, type SecretStore } from './secret-store.ts';

/** The kind of item that holds a login. */
const LOGIN = 1;
/** The kind of field that shows as dots. */
const HIDDEN = 1;
const NO_FOLDER = 'No Folder';

/**
 * Bitwarden's server takes two revisions of an item that are a second apart for the same, Vaultwarden's two that are almost two seconds
 * apart, in milliseconds. An item that has just been changed is read again after this time: each change that comes later is told apart.
 */
const SAME_REVISION_MS = 2500;
/** An item that was last changed longer ago than this needs no second look, however wrong a clock is, in milliseconds. */
const SETTLED_AFTER_MS = 60_000;
/** How often an item is read that changes all the time. */
const READINGS = 3;

const ListOf = <Entry extends z.ZodType>(entry: Entry) => z.object({ data: z.object({ data: z.array(entry) }) });
const Folder = z.object({ id: z.string().nullable(), name: z.string() });
/** Loose, for it is sent back whole when a passkey is added. */
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
const Refusal = z.object({ message: z.string() });

/**
 * Bitwarden (and Vaultwarden) by `bw serve`, whose vault is unlocked. Paths are a folder and an item joined by a slash, or
 * the item alone. `bw serve` knows no token of its own: what is given goes as a bearer token to whatever guards it.
 *
 * An item is written whole, with the `revisionDate` that it was read with. `bw serve` hands that on to the server, which refuses an item
 * that has been changed since; what it holds itself may be old, so that it is told to `sync` before.
 */
export function createBitwarden(account: ProviderAccount, dispatcher: Dispatcher, clock: () => number): SecretStore {
  const headers = { authorization: `Bearer ${account.token}`, accept: 'application/json' };
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) =>
    ask(dispatcher, { url: new URL(path, baseUrl(account)), headers, refusal }, schema);

  const read = async (id: string): Promise<Item> => {
    const found = await get(`object/item/${encodeURIComponent(id)}`, OneItem);
    if (found === null) throw noSuchItem();
    return found.data;
  };
  const sync = () =>
    ask(dispatcher, { method: 'POST', url: new URL('sync', baseUrl(account)), headers, refusal: () => 'busy' }, Synced);
  /** The item as the server has it, read so long after its last change that the server tells the next one apart. */
  const readSettled = async (id: string): Promise<Item> => {
    let before: Item | null = null;
    for (let reading = 0; reading < READINGS; reading += 1) {
      if (reading > 0) await sleep(SAME_REVISION_MS);
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
    const written = await ask(
      dispatcher,
      { method: 'PUT', url, headers: { ...headers, ...content }, body, refusal },
      OneItem,
    );
    if (written === null) throw noSuchItem();
    return written.data;
  };
  const addPasskey = async (id: string, passkey: Passkey): Promise<void> => {
    const item = await readSettled(id);
    if (holds(secretsIn(item), passkey)) return;
    if (!takesPasskeys(item)) throw refused();
    const written = await write(withPasskey(item, passkey, new Date(clock())));
    // An answer without it is no proof that it was written: it is read again, and written where it is not there.
    if (!holds(secretsIn(written), passkey)) throw new ItemChanged();
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
  return { ...secrets, passkeys: distinct([...passkeysIn(named), ...passkeys]) };
}

/**
 * False for what is no login or lies in the bin, for one whose revision is not told, and for a `bw` that is too old to know passkeys: it
 * would write the item without those that it has.
 */
function takesPasskeys(item: Item): boolean {
  const { type, login, revisionDate, deletedDate } = item;
  const isWritable = type === LOGIN && typeof revisionDate === 'string' && typeof deletedDate !== 'string';
  const knowsPasskeys = Array.isArray(login?.fido2Credentials);
  return isWritable && knowsPasskeys && secretsIn(item).passkeys.length < MAX_PASSKEYS;
}

/** The item with one passkey more: where its apps have them, or in a field of ours where they cannot sign with its key. */
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

/** `bw serve` answers 400 for whatever it does not do, in its own words and in those of the server. */
function refusal(body: unknown): 'missing' | 'changed' | null {
  const message = Refusal.safeParse(body).data?.message ?? '';
  if (/out of date/i.test(message)) return 'changed';
  return /^not found/i.test(message) ? 'missing' : null;
}
