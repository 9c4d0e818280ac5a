/**
 * The package export `holdfast/client`: connections for a program with a Temporal client instead of an API key. See
 * docs/client.md.
 */
export type { ConnectionsClient, LoginOptions } from '../client/connections-client.ts';
export { createConnectionsClient } from '../client/create-connections-client.ts';
export type { ConnectionsClientOptions } from '../client/create-connections-client.ts';
export type { ConnectionDocument } from '../contract/document.ts';
export { HoldfastError } from '../contract/errors.ts';
export type { ErrorCode } from '../contract/errors.ts';
export { createStore, DEFAULT_ORGANIZATION_ID, DEFAULT_PROJECT_ID } from '../store/store.ts';
export type { Store, StoreConnection } from '../store/store.ts';
export { createDataConverter } from '../workers/data-converter/data-converter.ts';
export { purposeKey, sharedKeys } from './keys.ts';
export type { SharedKeys } from './keys.ts';
export type { KeyPurpose } from '../store/vault/installation-keys.ts';
