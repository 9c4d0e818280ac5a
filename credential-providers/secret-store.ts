import { CREDENTIAL_PROVIDER_MESSAGES, type CredentialProviderFault } from '../contract/credential-provider-faults.ts';
import type { CredentialProviderItem, CredentialProviderType } from '../contract/credential-providers.ts';
import type { Passkey } from '../contract/passkeys.ts';

/** A provider with its token. Never log or return it. */
export interface ProviderAccount {
  type: CredentialProviderType;
  token: string;
  address: string | null;
  mount: string | null;
  namespace: string | null;
  region: string | null;
}

/** The secrets of one item, only for the activity that uses them. Never log or store them. */
export interface ItemSecrets {
  /** Keyed as in stored credentials (`username`, `email`, `password`), others by the item's own field names. */
  values: Record<string, string>;
  totpSecret: string | null;
  passkeys: Passkey[];
  /** The identity provider that the item signs in with, if it names one. */
  ssoProvider: string | null;
  /** URLs of the sites that the item is for; empty if it names none. */
  sites: string[];
  /** Grows with each change of the item. */
  version: number;
}

/** An item that a new passkey may be added to. */
export interface OpenedItem extends ItemSecrets {
  /**
   * Adds a passkey and leaves the rest of the item unchanged; does nothing if the item already has the passkey. Throws
   * {@link ItemChanged} if the item has changed since it was read. Absent if the store or the item's format cannot hold passkeys.
   */
  addPasskey?: (passkey: Passkey) => Promise<void>;
}

/** The common interface of external secret stores. All operations may be retried and throw {@link SecretStoreError}. */
export interface SecretStore {
  /** The vaults that the token can access. Never cached, so that it verifies the token. */
  vaults(): Promise<{ id: string; name: string }[]>;
  /** The items that can be attached to a connection. */
  items(): Promise<CredentialProviderItem[]>;
  /** The id of the item at `path`, or null if the store must list its items to know. */
  idOf(path: string): string | null;
  /** Reads one item, by its id. */
  open(id: string): Promise<OpenedItem>;
}

/** An external secret store failed. The message never contains anything from the store's response. */
export class SecretStoreError extends Error {
  readonly code: CredentialProviderFault;

  constructor(code: CredentialProviderFault, message = CREDENTIAL_PROVIDER_MESSAGES[code]) {
    super(message);
    this.name = 'SecretStoreError';
    this.code = code;
  }
}

/** The item was changed between read and write. Nothing was written; read the item again. */
export class ItemChanged extends SecretStoreError {
  constructor() {
    super('credential_provider_unavailable', "The credential provider's item was changed at the same time; try again");
    this.name = 'ItemChanged';
  }
}
