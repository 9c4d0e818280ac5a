import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { ask, baseUrl, noSuchItem, refused } from './http.ts';
import { secretsOf } from './item-fields.ts';
import type { ProviderAccount, SecretStore } from './secret-store.ts';

/** Categories of items that a login can be filled from. */
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
 * 1Password by a Connect server (its REST interface, version 1). Paths are a vault and an item, by title or id, joined by a
 * slash.
 */
export function createOnePassword(account: ProviderAccount, dispatcher: Dispatcher): SecretStore {
  const headers = { authorization: `Bearer ${account.token}`, accept: 'application/json' };
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) =>
    ask(dispatcher, { url: new URL(`v1/${path}`, baseUrl(account)), headers }, schema);

  const vaults = async () => (await get('vaults', Vaults)) ?? [];
  return {
    vaults,
    items: async () => {
      const lists = await Promise.all(
        (await vaults()).map(async (vault) => {
          const items = await get(`vaults/${encodeURIComponent(vault.id)}/items`, Items);
          // A vault that the token names and cannot read is a token that lacks a right.
          if (items === null) throw refused();
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
      const found = await get(`vaults/${vault}/items/${item}`, Item);
      if (found === null) throw noSuchItem();
      const urls = found.urls.map(({ href }) => href);
      const named = found.fields.map((field) => [nameOf(field), field.value ?? ''] as const);
      return secretsOf(Object.fromEntries(named.filter(([name]) => name !== '')), found.version, urls);
    },
  };
}

/** What a field is for, in the name that items elsewhere have for it; empty for notes and what has no name. */
function nameOf({ type, purpose, label = '' }: z.infer<typeof Field>): string {
  if (purpose === 'USERNAME') return 'username';
  if (purpose === 'PASSWORD') return 'password';
  if (type === 'OTP') return 'totp';
  return purpose === 'NOTES' ? '' : label;
}
