import { CREDENTIAL_PROVIDER_MESSAGES, type CredentialProviderFault } from '../contract/credential-provider-faults.ts';
import type { CredentialProviderItem, CredentialProviderType } from '../contract/credential-providers.ts';
import type { Passkey } from '../contract/passkeys.ts';

/** A provider with its token. Never log, never answer. */
export interface ProviderAccount {
  type: CredentialProviderType;
  token: string;
  address: string | null;
  mount: string | null;
  namespace: string | null;
  region: string | null;
}

/** The secrets of one item. For the activity that uses them alone; never log, never keep. */
export interface ItemSecrets {
  /** By the names that stored credentials use: `username`, `email`, `password`, others as the item names them. */
  values: Record<string, string>;
  totpSecret: string | null;
  passkeys: Passkey[];
  /** The identity provider that the item signs in through, where it says so. */
  ssoProvider: string | null;
  /** Addresses of the sites that the item says it is for; empty where it says nothing. */
  sites: string[];
  /** Grows with each change of the item. */
  version: number;
}

/** One that a new passkey can be written to, and how. */
export interface OpenedItem extends ItemSecrets {
  /**
   * Writes the item with one passkey more and all else as it was when it was read; not at all where it has that passkey. Throws
   * {@link ItemChanged} for an item that has changed since. Absent where the store or the form of the item does not take it.
   */
  addPasskey?: (passkey: Passkey) => Promise<void>;
}

/** One kind of external secret store, behind which all are alike. All operations may be retried; they throw {@link SecretStoreError}. */
export interface SecretStore {
  /** The vaults that the token reaches. Asks the store each time: what proves a token. */
  vaults(): Promise<{ id: string; name: string }[]>;
  /** What can be attached to a connection. */
  items(): Promise<CredentialProviderItem[]>;
  /** The id of the item at `path`, where the store needs no list to tell; else null. */
  idOf(path: string): string | null;
  /** Reads one item, by its id. */
  open(id: string): Promise<OpenedItem>;
}

/** An external secret store failed. Its message is ours: nothing that the store has said stands in it. */
export class SecretStoreError extends Error {
  readonly code: CredentialProviderFault;

  constructor(code: CredentialProviderFault, message = CREDENTIAL_PROVIDER_MESSAGES[code]) {
    super(message);
    this.name = 'SecretStoreError';
    this.code = code;
  }
}

/** Somebody else has changed the item between its reading and its writing: nothing was written, it is to be read again. */
export class ItemChanged extends SecretStoreError {
  constructor() {
    super(
      'credential_provider_unavailable',
      'Somebody else changes the item of the credential provider at the same time; try again',
    );
    this.name = 'ItemChanged';
  }
}
