import { getDomain } from 'tldts';
import type { Dispatcher } from 'undici';
import type { CredentialFacts } from '../contract/activities.ts';
import { assertNever } from '../contract/assert-never.ts';
import type { CredentialReference } from '../contract/connections.ts';
import type { CredentialProviderItem, CredentialProviderTest } from '../contract/credential-providers.ts';
import type { Passkey, PasskeyName } from '../contract/passkeys.ts';
import { createGuardedDispatcher } from '../egress/guard.ts';
import type { EgressPolicy } from '../egress/policy.ts';
import { createAwsSecretsManager } from './aws-secrets-manager.ts';
import { createBitwarden } from './bitwarden.ts';
import { itemNotFound } from './request.ts';
import { siteAddress } from './item-fields.ts';
import { createOnePassword } from './onepassword.ts';
import {
  ItemChanged,
  SecretStoreError,
  type ItemSecrets,
  type ProviderAccount,
  type SecretStore,
} from './secret-store.ts';
import { createVault } from './vault.ts';

/** A provider of an organization, decrypted. A new `updatedAt` invalidates cached items. */
export interface OpenedProvider extends ProviderAccount {
  id: string;
  enabled: boolean;
  cacheTtlSeconds: number;
  updatedAt: Date;
}

/** What {@link createExternalCredentials} needs. */
export interface ExternalCredentialsDeps {
  /** The provider with this id or name, decrypted, or null. */
  providers: { open(organizationId: string, idOrName: string): Promise<OpenedProvider | null> };
  /** Which addresses may be connected to. */
  egress: EgressPolicy;
  clock?: () => number;
}

/** The `{provider, …}` forms of a CredentialReference (interface.md). */
export type ExternalReference = Pick<CredentialReference, 'provider' | 'path' | 'auto'>;

/** The connection that uses an external credential. */
export interface ExternalTarget {
  organizationId: string;
  domain: string;
}

/** An item without its secrets. `sites` is empty if the item names none. */
export interface FoundItem {
  facts: CredentialFacts;
  sites: string[];
  passkeys: PasskeyName[];
}

/**
 * Credentials in external secret stores. Item lists and field names are cached in this process for the provider's
 * `cache_ttl_seconds`; values are fetched on every use and never cached. All operations may be retried and throw
 * {@link SecretStoreError}.
 */
export interface ExternalCredentials {
  /** Resolves a reference to an item: the names of its values, and its sites. */
  find(target: ExternalTarget, reference: ExternalReference): Promise<FoundItem>;
  /** The secrets of an item returned by `find`, only for the activity that uses them. */
  open(target: ExternalTarget, credentialId: string): Promise<ItemSecrets>;
  /**
   * Adds new passkeys to an item returned by `find`. Retries once if the item is changed concurrently. Throws if the item takes no
   * passkeys (see `takesPasskeys`).
   */
  addPasskeys(target: ExternalTarget, credentialId: string, passkeys: readonly Passkey[]): Promise<void>;
  /** Tests a provider's token. */
  test(organizationId: string, providerId: string): Promise<CredentialProviderTest>;
  /** The items that a provider's token can access. */
  items(organizationId: string, providerId: string): Promise<CredentialProviderItem[]>;
}

/** Makes {@link ExternalCredentials}. */
export function createExternalCredentials(deps: ExternalCredentialsDeps): ExternalCredentials {
  const { clock = Date.now } = deps;
  const dispatcher = createGuardedDispatcher(deps.egress);
  const items = createCache<CredentialProviderItem[]>(clock);
  const found = createCache<FoundItem>(clock);

  const provider = async (organizationId: string, idOrName: string): Promise<OpenedProvider> => {
    const found = await deps.providers.open(organizationId, idOrName);
    if (found === null || !found.enabled) throw new SecretStoreError('credential_provider_unknown');
    return found;
  };
  const storeOf = (account: OpenedProvider): SecretStore => createSecretStore(account, dispatcher, clock);

  const itemsOf = (account: OpenedProvider) => items.getOrFetch(account, '', () => storeOf(account).items());
  const itemIdOf = async (account: OpenedProvider, domain: string, { path }: ExternalReference): Promise<string> => {
    if (path === undefined) return singleItem(itemsFor(await itemsOf(account), domain)).id;
    return storeOf(account).idOf(path) ?? singleItem(itemsAt(await itemsOf(account), path)).id;
  };

  const locate = async (target: ExternalTarget, credentialId: string) => {
    const at = credentialId.indexOf('/');
    const account = await provider(target.organizationId, credentialId.slice(0, at));
    return { account, itemId: credentialId.slice(at + 1) };
  };
  const addOnce = async (account: OpenedProvider, itemId: string, passkey: Passkey): Promise<void> => {
    const { addPasskey } = await storeOf(account).open(itemId);
    if (addPasskey === undefined) throw new SecretStoreError('credential_provider_refused');
    await addPasskey(passkey);
  };

  return {
    find: async (target, reference) => {
      const account = await provider(target.organizationId, reference.provider ?? '');
      const itemId = await itemIdOf(account, target.domain, reference);
      return await found.getOrFetch(account, itemId, async () => {
        const { values, totpSecret, sites, passkeys, addPasskey, ...rest } = await storeOf(account).open(itemId);
        const id = `${account.id}/${itemId}`;
        const facts = {
          id,
          valueKeys: Object.keys(values),
          hasTotpSecret: totpSecret !== null,
          ...rest,
          ...(addPasskey === undefined ? {} : { takesPasskeys: true }),
        };
        return {
          facts: passkeys.length === 0 ? facts : { ...facts, hasPasskey: true },
          sites,
          passkeys: passkeys.map(({ credential_id, rp_id }) => ({ credential_id, rp_id })),
        };
      });
    },
    open: async (target, credentialId) => {
      const { account, itemId } = await locate(target, credentialId);
      const { addPasskey: _addPasskey, ...secrets } = await storeOf(account).open(itemId);
      return secrets;
    },
    addPasskeys: async (target, credentialId, passkeys) => {
      const { account, itemId } = await locate(target, credentialId);
      for (const passkey of passkeys) {
        await addOnce(account, itemId, passkey).catch(async (error: unknown) => {
          if (!(error instanceof ItemChanged)) throw error;
          await addOnce(account, itemId, passkey);
        });
      }
      found.delete(account, itemId);
    },
    test: async (organizationId, providerId) => {
      try {
        const account = await provider(organizationId, providerId);
        return { success: true, vaults: await storeOf(account).vaults() };
      } catch (error) {
        if (!(error instanceof SecretStoreError)) throw error;
        return { success: false, vaults: [], error: error.message };
      }
    },
    items: async (organizationId, providerId) => await itemsOf(await provider(organizationId, providerId)),
  };
}

/** Caches values for the provider's TTL, until the provider is updated. Failures are not cached. */
function createCache<Value>(clock: () => number) {
  const entries = new Map<string, { until: number; value: Value }>();
  const keyOf = (account: OpenedProvider, name: string): string =>
    [account.id, account.updatedAt.getTime(), name].join('\n');
  return {
    delete: (account: OpenedProvider, name: string): void => {
      entries.delete(keyOf(account, name));
    },
    getOrFetch: async (account: OpenedProvider, name: string, find: () => Promise<Value>): Promise<Value> => {
      const key = keyOf(account, name);
      const known = entries.get(key);
      if (known !== undefined && known.until > clock()) return known.value;
      const value = await find();
      for (const [other, { until }] of entries) if (until <= clock()) entries.delete(other);
      entries.set(key, { until: clock() + account.cacheTtlSeconds * 1000, value });
      return value;
    },
  };
}

/** True for the id of a credential in an external secret store: ids of stored ones contain no slash. */
export function isExternalId(credentialId: string): boolean {
  return credentialId.includes('/');
}

function createSecretStore(account: ProviderAccount, dispatcher: Dispatcher, clock: () => number): SecretStore {
  switch (account.type) {
    case 'onepassword':
      return createOnePassword(account, dispatcher);
    case 'vault':
      return createVault(account, dispatcher);
    case 'bitwarden':
      return createBitwarden(account, dispatcher, clock);
    case 'aws_secrets_manager':
      return createAwsSecretsManager(account, dispatcher);
    default:
      return assertNever(account.type);
  }
}

/** The items at a path: by path or id, else by title. */
function itemsAt(items: readonly CredentialProviderItem[], path: string): CredentialProviderItem[] {
  const exact = items.filter((item) => item.path === path || item.id === path);
  return exact.length > 0 ? exact : items.filter(({ title }) => title === path);
}

/** The items for a domain: those for the exact host, else those for its site. */
function itemsFor(items: readonly CredentialProviderItem[], domain: string): CredentialProviderItem[] {
  const host = hostOf(domain);
  const exact = items.filter(({ urls }) => urls.some((url) => hostOf(url) === host));
  if (exact.length > 0) return exact;
  const site = getDomain(host, { allowPrivateDomains: true });
  if (site === null) return [];
  return items.filter(({ urls }) => urls.some((url) => getDomain(hostOf(url), { allowPrivateDomains: true }) === site));
}

/** Host and port of a URL or domain, without `www.`. */
function hostOf(address: string): string {
  const url = siteAddress(address);
  return url === null ? '' : new URL(url).host.replace(/^www\./, '');
}

function singleItem(items: readonly CredentialProviderItem[]): CredentialProviderItem {
  const [item, other] = items;
  if (item === undefined) throw itemNotFound();
  if (other !== undefined) throw new SecretStoreError('credential_item_ambiguous');
  return item;
}
