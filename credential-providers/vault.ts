import type { Dispatcher } from 'undici';
import { z } from 'zod';
import type { CredentialProviderItem } from '../contract/credential-providers.ts';
import type { Passkey } from '../contract/passkeys.ts';
import { requestJson, baseUrl, itemNotFound, tokenRejected } from './request.ts';
import { passkeyAdder, secretsOf, textsOf, urlsOf } from './item-fields.ts';
import type { ProviderAccount, SecretStore } from './secret-store.ts';

/** The default KV mount of Vault and OpenBao. */
const DEFAULT_MOUNT = 'secret';
/** Lists are truncated here; beyond that, credentials need paths. */
const MAX_ITEMS = 1000;
/** Secrets whose URLs are read concurrently. */
const PARALLEL = 8;

const Anything = z.object({});
const Keys = z.object({ data: z.object({ keys: z.array(z.string()) }) });
const Metadata = z.object({ data: z.object({ custom_metadata: z.record(z.string(), z.string()).nullish() }) });
const Written = z.object({ data: z.object({ version: z.int() }) });
const Rejection = z.object({ errors: z.array(z.string()) });
const Secret = z.object({
  data: z.object({
    data: z.record(z.string(), z.unknown()).nullable(),
    metadata: z.object({ version: z.int(), custom_metadata: z.record(z.string(), z.string()).nullish() }),
  }),
});

/**
 * HashiCorp Vault and OpenBao, KV version 2. Paths are relative to the mount, with or without its name as prefix. An item's sites are
 * in `url` or `domain` of its custom metadata, else of the secret itself.
 */
export function createVault(account: ProviderAccount, dispatcher: Dispatcher): SecretStore {
  const mount = (account.mount ?? DEFAULT_MOUNT).replaceAll(/^\/+|\/+$/g, '');
  const headers = {
    'x-vault-token': account.token,
    ...(account.namespace === null ? {} : { 'x-vault-namespace': account.namespace }),
  };
  const get = <Schema extends z.ZodType>(path: string, schema: Schema) =>
    requestJson(dispatcher, { url: new URL(`v1/${path}`, baseUrl(account)), headers }, schema);
  const read = async (id: string) => {
    const found = await get(`${mount}/data/${encodePath(id)}`, Secret);
    const { data = null, metadata } = found?.data ?? {};
    return data === null || metadata === undefined ? null : { data, texts: textsOf(data), metadata };
  };

  /** Patches fields of a secret if it is still at `version`. */
  const patch = async (id: string, version: number, data: Record<string, unknown>): Promise<void> => {
    const written = await requestJson(
      dispatcher,
      {
        method: 'PATCH',
        url: new URL(`v1/${mount}/data/${encodePath(id)}`, baseUrl(account)),
        headers: { ...headers, 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ options: { cas: version }, data }),
        classifyRejection,
      },
      Written,
    );
    if (written === null) throw itemNotFound();
  };

  /** Paths below a folder (which ends with a slash, or is empty). */
  const pathsBelow = async (folder: string, limit: number): Promise<string[]> => {
    const listed = await get(`${mount}/metadata/${encodePath(folder)}?list=true`, Keys);
    const paths: string[] = [];
    for (const key of listed?.data.keys ?? []) {
      if (paths.length >= limit) break;
      if (key.endsWith('/')) paths.push(...(await pathsBelow(`${folder}${key}`, limit - paths.length)));
      else paths.push(`${folder}${key}`);
    }
    return paths;
  };

  const urlsAt = async (path: string): Promise<string[]> => {
    const metadata = await get(`${mount}/metadata/${encodePath(path)}`, Metadata);
    const noted = urlsOf(metadata?.data.custom_metadata ?? {});
    return noted.length > 0 ? noted : urlsOf((await read(path))?.texts ?? {});
  };

  return {
    vaults: async () => {
      if ((await get('auth/token/lookup-self', Anything)) === null) throw tokenRejected();
      return [{ id: mount, name: mount }];
    },
    items: async () => {
      const paths = await pathsBelow('', MAX_ITEMS);
      const items: CredentialProviderItem[] = [];
      for (let at = 0; at < paths.length; at += PARALLEL) {
        const some = paths.slice(at, at + PARALLEL).map(async (path) => ({
          id: path,
          path: `${mount}/${path}`,
          title: path.split('/').at(-1) ?? path,
          vault_id: mount,
          vault_name: mount,
          urls: await urlsAt(path),
        }));
        items.push(...(await Promise.all(some)));
      }
      return items;
    },
    idOf: (path) => {
      const plain = path.replaceAll(/^\/+|\/+$/g, '');
      return plain.startsWith(`${mount}/`) ? plain.slice(mount.length + 1) : plain;
    },
    open: async (id) => {
      const found = await read(id);
      if (found === null) throw itemNotFound();
      const noted = urlsOf(found.metadata.custom_metadata ?? {});
      const { data, texts, metadata } = found;
      const secrets = secretsOf(texts, metadata.version, [...noted, ...urlsOf(texts)]);
      const add = passkeyAdder(data);
      if (add === undefined) return secrets;
      const addPasskey = async (passkey: Passkey): Promise<void> => {
        const field = add(passkey);
        if (field !== null) await patch(id, metadata.version, { [field.name]: field.value });
      };
      return { ...secrets, addPasskey };
    },
  };
}

function classifyRejection(body: unknown): 'changed' | null {
  const errors = Rejection.safeParse(body).data?.errors ?? [];
  return errors.some((error) => error.startsWith('check-and-set parameter did not match')) ? 'changed' : null;
}

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
