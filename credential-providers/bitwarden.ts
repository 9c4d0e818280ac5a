import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { Passkey } from '../contract/passkeys.ts';
import { ask, baseUrl, noSuchItem } from './http.ts';
import { secretsOf } from './item-fields.ts';
import type { ProviderAccount, SecretStore } from './secret-store.ts';

/** The kind of item that holds a login. */
const LOGIN = 1;
const NO_FOLDER = 'No Folder';

/** A passkey as Bitwarden writes it. Its id is a UUID, or `b64.` and base64url for one that comes from elsewhere. */
const Fido2Credential = z.object({
  credentialId: z.string(),
  keyValue: z.string(),
  rpId: z.string(),
  userHandle: z.string().nullish(),
  userName: z.string().nullish(),
  userDisplayName: z.string().nullish(),
  counter: z.coerce.number(),
});

const ListOf = <Entry extends z.ZodType>(entry: Entry) => z.object({ data: z.object({ data: z.array(entry) }) });
const Folder = z.object({ id: z.string().nullable(), name: z.string() });
const Item = z.object({
  id: z.string(),
  name: z.string(),
  type: z.int(),
  folderId: z.string().nullish(),
  revisionDate: z.string().optional(),
  login: z
    .object({
      username: z.string().nullish(),
      password: z.string().nullish(),
      totp: z.string().nullish(),
      fido2Credentials: z.array(Fido2Credential).nullish(),
      uris: z.array(z.object({ uri: z.string().nullish() })).nullish(),
    })
    .nullish(),
  fields: z.array(z.object({ name: z.string().nullish(), value: z.string().nullish() })).nullish(),
});

const Refusal = z.object({ message: z.string() });

/**
 * Bitwarden (and Vaultwarden) by `bw serve`, whose vault is unlocked. Paths are a folder and an item joined by a slash, or
 * the item alone. `bw serve` knows no token of its own: what is given goes as a bearer token to whatever guards it.
 */
export function createBitwarden(account: ProviderAccount, dispatcher: Dispatcher): SecretStore {
  const headers = { authorization: `Bearer ${account.token}`, accept: 'application/json' };
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) =>
    ask(dispatcher, { url: new URL(path, baseUrl(account)), headers, refusal }, schema);

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
      const item = (await get(`object/item/${encodeURIComponent(id)}`, z.object({ data: Item })))?.data;
      if (item === undefined) throw noSuchItem();
      const named = (item.fields ?? []).map(({ name, value }) => [name ?? '', value ?? ''] as const);
      const login = {
        username: item.login?.username ?? '',
        password: item.login?.password ?? '',
        totp: item.login?.totp ?? '',
      };
      const urls = (item.login?.uris ?? []).flatMap(({ uri }) => uri ?? []);
      const version = Date.parse(item.revisionDate ?? '') || 0;
      const secrets = secretsOf({ ...login, ...Object.fromEntries(named) }, version, urls);
      const passkeys = (item.login?.fido2Credentials ?? []).flatMap((each) => passkeyOf(each) ?? []);
      return { ...secrets, passkeys: [...secrets.passkeys, ...passkeys] };
    },
  };
}

/** One that a browser can use; null for a key of a kind that it has not, or without a user. */
function passkeyOf(found: z.infer<typeof Fido2Credential>): Passkey | null {
  const { credentialId: id, userName, userDisplayName } = found;
  const passkey = Passkey.safeParse({
    rp_id: found.rpId,
    credential_id: id.startsWith('b64.')
      ? id.slice('b64.'.length)
      : Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url'),
    user_handle: found.userHandle,
    private_key: found.keyValue,
    sign_count: found.counter,
    ...(typeof userName === 'string' ? { user_name: userName } : {}),
    ...(typeof userDisplayName === 'string' ? { user_display_name: userDisplayName } : {}),
  });
  return passkey.success ? passkey.data : null;
}

/** `bw serve` answers 400 for whatever it does not do. */
function refusal(body: unknown): 'missing' | null {
  return /^not found/i.test(Refusal.safeParse(body).data?.message ?? '') ? 'missing' : null;
}
