import { Client, type ConnectionLike } from '@temporalio/client';
import { createAppsClient, type AppsClient } from '../client/apps-client.ts';
import type { ConnectionsClient } from '../client/connections-client.ts';
import { createConnectionsClient } from '../client/create-connections-client.ts';
import { hasSearchAttributes } from '../client/search-attributes.ts';
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

/** Typed clients of all workflows, for the API and the worker. */
interface TemporalClients {
  connections: ConnectionsClient;
  apps: AppsClient;
  auditExports: AuditExportsClient;
  webhookLanes: WebhookLanes;
}

/** Opens the clients. Connections get search attributes if the Temporal server has them registered. */
export async function openTemporalClients(options: {
  connection: ConnectionLike & Parameters<typeof hasSearchAttributes>[0];
  namespace: string;
  store: Pick<Store, 'connections'>;
  keys: SharedKeys;
  settings: Pick<Settings, 'clearSearchDomains'>;
}): Promise<TemporalClients> {
  const { connection, namespace, store, keys, settings } = options;
  const temporal = new Client({ connection, namespace, dataConverter: createDataConverter(keys.payloadKeys) });
  return {
    connections: createConnectionsClient({
      temporal,
      identityKey: keys.identityKey,
      findDocument: async (id) => (await store.connections.byIdUnscoped(id))?.document ?? null,
      search: (await hasSearchAttributes(connection, namespace))
        ? { domains: settings.clearSearchDomains ? 'clear' : 'hashed' }
        : null,
    }),
    apps: createAppsClient({ temporal }),
    auditExports: createAuditExportsClient({ temporal }),
    webhookLanes: createWebhookLanes({ temporal }),
  };
}
