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
import { noSuchItem } from './http.ts';
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

/** A provider of an organization as the store opens it. `updatedAt` tells whether what is remembered still counts. */
export interface OpenedProvider extends ProviderAccount {
  id: string;
  enabled: boolean;
  cacheTtlSeconds: number;
  updatedAt: Date;
}

/** What {@link createExternalCredentials} needs. */
export interface ExternalCredentialsDeps {
  /** The provider of that id or name, opened; null when there is none. */
  providers: { open(organizationId: string, idOrName: string): Promise<OpenedProvider | null> };
  /** Which addresses may be connected to. */
  egress: EgressPolicy;
  clock?: () => number;
}

/** The `{provider, …}` forms of a CredentialReference (interface.md). */
export type ExternalReference = Pick<CredentialReference, 'provider' | 'path' | 'auto'>;

/** Which connection asks for an external credential. */
export interface ExternalTarget {
  organizationId: string;
  domain: string;
}

/** An item as a login sees it before anything is used. `sites` is empty where the item names none. */
export interface FoundItem {
  facts: CredentialFacts;
  sites: string[];
  passkeys: PasskeyName[];
}

/**
 * Credentials in external secret stores. What leads to an item and which values it has is remembered in this process for the
 * provider's `cache_ttl_seconds`; values are fetched whenever they are used and never kept. All operations may be retried;
 * they throw {@link SecretStoreError}.
 */
export interface ExternalCredentials {
  /** What the item of a reference can answer (names of its values, no value), and the addresses it says it is for. */
  find(target: ExternalTarget, reference: ExternalReference): Promise<FoundItem>;
  /** The secrets of the item that `find` has named. For the activity that uses them. */
  open(target: ExternalTarget, credentialId: string): Promise<ItemSecrets>;
  /**
   * Writes new passkeys to the item that `find` has named, beside all that is in it; those that it has already are left. An item that
   * somebody else changes meanwhile is read and written once more. Throws for one that takes none (`takesPasskeys`).
   */
  addPasskeys(target: ExternalTarget, credentialId: string, passkeys: readonly Passkey[]): Promise<void>;
  /** Tries a provider's token. */
  test(organizationId: string, providerId: string): Promise<CredentialProviderTest>;
  /** What a provider's token reaches. */
  items(organizationId: string, providerId: string): Promise<CredentialProviderItem[]>;
}

/** Makes {@link ExternalCredentials}. */
export function createExternalCredentials(deps: ExternalCredentialsDeps): ExternalCredentials {
  const { clock = Date.now } = deps;
  const dispatcher = createGuardedDispatcher(deps.egress);
  const items = createMemory<CredentialProviderItem[]>(clock);
  const found = createMemory<FoundItem>(clock);

  const provider = async (organizationId: string, idOrName: string): Promise<OpenedProvider> => {
    const found = await deps.providers.open(organizationId, idOrName);
    if (found === null || !found.enabled) throw new SecretStoreError('credential_provider_unknown');
    return found;
  };
  const storeOf = (account: OpenedProvider): SecretStore => createSecretStore(account, dispatcher, clock);

  const itemsOf = (account: OpenedProvider) => items.recall(account, '', () => storeOf(account).items());
  const itemIdOf = async (account: OpenedProvider, domain: string, { path }: ExternalReference): Promise<string> => {
    if (path === undefined) return theOne(itemsFor(await itemsOf(account), domain)).id;
    return storeOf(account).idOf(path) ?? theOne(itemsAt(await itemsOf(account), path)).id;
  };

  const placeOf = async (target: ExternalTarget, credentialId: string) => {
    const at = credentialId.indexOf('/');
    const account = await provider(target.organizationId, credentialId.slice(0, at));
    return { account, itemId: credentialId.slice(at + 1) };
  };
  const add = async (account: OpenedProvider, itemId: string, passkey: Passkey): Promise<void> => {
    const { addPasskey } = await storeOf(account).open(itemId);
    if (addPasskey === undefined) throw new SecretStoreError('credential_provider_refused');
    await addPasskey(passkey);
  };

  return {
    find: async (target, reference) => {
      const account = await provider(target.organizationId, reference.provider ?? '');
      const itemId = await itemIdOf(account, target.domain, reference);
      return await found.recall(account, itemId, async () => {
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
      const { account, itemId } = await placeOf(target, credentialId);
      const { addPasskey: _addPasskey, ...secrets } = await storeOf(account).open(itemId);
      return secrets;
    },
    addPasskeys: async (target, credentialId, passkeys) => {
      const { account, itemId } = await placeOf(target, credentialId);
      for (const passkey of passkeys) {
        await add(account, itemId, passkey).catch(async (error: unknown) => {
          if (!(error instanceof ItemChanged)) throw error;
          await add(account, itemId, passkey);
        });
      }
      found.forget(account, itemId);
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

/** Keeps what was found for as long as its provider says, and no longer than the provider stays as it is. Failures are not kept. */
function createMemory<Value>(clock: () => number) {
  const remembered = new Map<string, { until: number; value: Value }>();
  const keyOf = (account: OpenedProvider, name: string): string =>
    [account.id, account.updatedAt.getTime(), name].join('\n');
  return {
    forget: (account: OpenedProvider, name: string): void => {
      remembered.delete(keyOf(account, name));
    },
    recall: async (account: OpenedProvider, name: string, find: () => Promise<Value>): Promise<Value> => {
      const key = keyOf(account, name);
      const known = remembered.get(key);
      if (known !== undefined && known.until > clock()) return known.value;
      const value = await find();
      for (const [other, { until }] of remembered) if (until <= clock()) remembered.delete(other);
      remembered.set(key, { until: clock() + account.cacheTtlSeconds * 1000, value });
      return value;
    },
  };
}

/** Whether the credential of that id lies in an external secret store: ids of stored ones hold no slash. */
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

/** The items that a path means: by path or id, else by title alone. */
function itemsAt(items: readonly CredentialProviderItem[], path: string): CredentialProviderItem[] {
  const exact = items.filter((item) => item.path === path || item.id === path);
  return exact.length > 0 ? exact : items.filter(({ title }) => title === path);
}

/** The items made for a domain: those for its very host first, else those for the site that it is part of. */
function itemsFor(items: readonly CredentialProviderItem[], domain: string): CredentialProviderItem[] {
  const host = hostOf(domain);
  const exact = items.filter(({ urls }) => urls.some((url) => hostOf(url) === host));
  if (exact.length > 0) return exact;
  const site = getDomain(host, { allowPrivateDomains: true });
  if (site === null) return [];
  return items.filter(({ urls }) => urls.some((url) => getDomain(hostOf(url), { allowPrivateDomains: true }) === site));
}

/** Host of an address or of a bare domain, without `www.`, with its port. */
function hostOf(address: string): string {
  const url = siteAddress(address);
  return url === null ? '' : new URL(url).host.replace(/^www\./, '');
}

function theOne(items: readonly CredentialProviderItem[]): CredentialProviderItem {
  const [item, other] = items;
  if (item === undefined) throw noSuchItem();
  if (other !== undefined) throw new SecretStoreError('credential_item_ambiguous');
  return item;
}
