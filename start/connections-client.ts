import { Client, type ConnectionLike } from '@temporalio/client';
import type { ConnectionsClient } from '../client/connections-client.ts';
import { createConnectionsClient } from '../client/create-connections-client.ts';
import { hasSearchAttributes } from '../client/search-attributes.ts';
import { createAppsClient, type AppsClient } from '../client/apps-client.ts';
import {
  createAuditExportsClient,
  createWebhookLanes,
  type AuditExportsClient,
  type WebhookLanes,
} from '../client/delivery-clients.ts';
import type { Store } from '../store/store.ts';
import { createDataConverter } from '../workers/data-converter/data-converter.ts';
import type { SharedKeys } from './keys.ts';
import type { Settings } from './settings.ts';

/** The connections' workflows as the roles of an installation reach them: with search attributes where the server has them. */
export async function openConnectionsClient(options: {
  connection: ConnectionLike & Parameters<typeof hasSearchAttributes>[0];
  namespace: string;
  store: Pick<Store, 'connections'>;
  keys: SharedKeys;
  settings: Pick<Settings, 'clearSearchDomains'>;
}): Promise<ConnectionsClient> {
  const { connection, namespace, store, keys, settings } = options;
  return createConnectionsClient({
    temporal: new Client({ connection, namespace, dataConverter: createDataConverter(keys.payloadKeys) }),
    identityKey: keys.identityKey,
    findDocument: async (id) => (await store.connections.byIdUnscoped(id))?.document ?? null,
    search: (await hasSearchAttributes(connection, namespace))
      ? { domains: settings.clearSearchDomains ? 'clear' : 'hashed' }
      : null,
  });
}

/** The workflows that deliver to webhooks, as the worker wakes them up. */
export function openWebhookLanes(options: {
  connection: ConnectionLike;
  namespace: string;
  keys: SharedKeys;
}): WebhookLanes {
  const { connection, namespace, keys } = options;
  const dataConverter = createDataConverter(keys.payloadKeys);
  return createWebhookLanes({ temporal: new Client({ connection, namespace, dataConverter }) });
}

/** The workflows that build and run programs, as the API and the worker reach them. */
export function openAppsClient(options: {
  connection: ConnectionLike;
  namespace: string;
  keys: SharedKeys;
}): AppsClient {
  const { connection, namespace, keys } = options;
  const dataConverter = createDataConverter(keys.payloadKeys);
  return createAppsClient({ temporal: new Client({ connection, namespace, dataConverter }) });
}

/** The workflows that deliver the audit log, as the API and the worker reach them. */
export function openAuditExportsClient(options: {
  connection: ConnectionLike;
  namespace: string;
  keys: SharedKeys;
}): AuditExportsClient {
  const { connection, namespace, keys } = options;
  const dataConverter = createDataConverter(keys.payloadKeys);
  return createAuditExportsClient({ temporal: new Client({ connection, namespace, dataConverter }) });
}
