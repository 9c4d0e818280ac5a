import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { MAX_PASSKEYS, type Passkey } from '../contract/passkeys.ts';
import { requestJson, baseUrl, itemNotFound, tokenRejected } from './request.ts';
import { uniquePasskeys, hasPasskey, passkeysIn, secretsOf } from './item-fields.ts';
import { ItemChanged, type ItemSecrets, type ProviderAccount, type SecretStore } from './secret-store.ts';

/** Categories of items that can fill a login. */
const CATEGORIES = new Set(['LOGIN', 'PASSWORD']);

const Vaults = z.array(z.object({ id: z.string(), name: z.string() }));
const Url = z.object({ href: z.string() });
const Items = z.array(
  z.object({ id: z.string(), title: z.string(), category: z.string(), urls: z.array(Url).optional() }),
);
const Field = z.object({
  type: z.string().optional(),
  purpose: z.string().optional(),
  label: z.string().optional(),
  value: z.string().optional(),
});
const Item = z.object({
  version: z.int().default(0),
  urls: z.array(Url).default([]),
  fields: z.array(Field).default([]),
});

/**
 * 1Password, by the REST API (version 1) of a Connect server. Paths are `vault/item`, by title or id. A new passkey is added as a
 * field of its own, so that concurrent changes are kept and no version check is needed.
 */
export function createOnePassword(account: ProviderAccount, dispatcher: Dispatcher): SecretStore {
  const headers = { authorization: `Bearer ${account.token}`, accept: 'application/json' };
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) =>
    requestJson(dispatcher, { url: new URL(`v1/${path}`, baseUrl(account)), headers }, schema);
  const patch = (path: string, changes: readonly object[]) => {
    const url = new URL(`v1/${path}`, baseUrl(account));
    const content = { 'content-type': 'application/json' };
    const body = JSON.stringify(changes);
    return requestJson(dispatcher, { method: 'PATCH', url, headers: { ...headers, ...content }, body }, Item);
  };

  const vaults = async () => (await get('vaults', Vaults)) ?? [];
  return {
    vaults,
    items: async () => {
      const lists = await Promise.all(
        (await vaults()).map(async (vault) => {
          const items = await get(`vaults/${encodeURIComponent(vault.id)}/items`, Items);
          // The token can list this vault but lacks permission to read it.
          if (items === null) throw tokenRejected();
          return items
            .filter(({ category }) => CATEGORIES.has(category))
            .map(({ id, title, urls = [] }) => ({
              id: `${vault.id}/${id}`,
              path: `${vault.name}/${title}`,
              title,
              vault_id: vault.id,
              vault_name: vault.name,
              urls: urls.map(({ href }) => href),
            }));
        }),
      );
      return lists.flat();
    },
    idOf: () => null,
    open: async (id) => {
      const [vault = '', item = ''] = id.split('/').map(encodeURIComponent);
      const place = `vaults/${vault}/items/${item}`;
      const found = await get(place, Item);
      if (found === null) throw itemNotFound();
      const secrets = read(found);
      if (secrets.passkeys.length >= MAX_PASSKEYS) return secrets;
      const addPasskey = async (passkey: Passkey): Promise<void> => {
        if (hasPasskey(secrets, passkey)) return;
        const written = await patch(place, [{ op: 'add', path: '/fields', value: fieldOf(passkey) }]);
        if (written === null) throw itemNotFound();
        // Without the passkey in the response, the caller must check and write again.
        if (!hasPasskey(read(written), passkey)) throw new ItemChanged();
      };
      return { ...secrets, addPasskey };
    },
  };
}

function read({ fields, version, urls }: z.infer<typeof Item>): ItemSecrets {
  const named = fields.map((field) => [nameOf(field), field.value ?? ''] as const);
  const sites = urls.map(({ href }) => href);
  const secrets = secretsOf(Object.fromEntries(named.filter(([name]) => name !== '')), version, sites);
  return { ...secrets, passkeys: uniquePasskeys(passkeysIn(named)) };
}

/** A field that is masked like a password. */
function fieldOf(passkey: Passkey) {
  return { label: 'passkey', type: 'CONCEALED', value: JSON.stringify(passkey) };
}

/** The common name for a field's purpose, else its label; empty for notes. */
function nameOf({ type, purpose, label = '' }: z.infer<typeof Field>): string {
  if (purpose === 'USERNAME') return 'username';
  if (purpose === 'PASSWORD') return 'password';
  if (type === 'OTP') return 'totp';
  return purpose === 'NOTES' ? '' : label;
}
