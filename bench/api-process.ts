import { Client, Connection } from '@temporalio/client';
import { startApi } from '../api/service.ts';
import { createAppsClient } from '../client/apps-client.ts';
import { createConnectionsClient } from '../client/create-connections-client.ts';
import { createExternalCredentials } from '../credential-providers/external-credentials.ts';
import { createEgressPolicy, forbiddenRange } from '../egress/policy.ts';
import { openStore } from '../start/backends.ts';
import { loadKeys, sharedKeys } from '../start/keys.ts';
import { parseSettings } from '../start/settings.ts';

/**
 * The API for the measurement of reads, without rate limits and logs. Takes HOLDFAST_* settings and TEMPORAL_ADDRESS. Sends
 * its URL over the IPC channel and exits when the channel closes.
 */
const settings = parseSettings();
const keys = await loadKeys(settings);
const store = await openStore(settings, keys);
const { signingKey, identityKey } = await sharedKeys(store, keys);
const connection = await Connection.connect({ address: settings.externalTemporal?.connectionOptions.address ?? '' });
const unlimited = { burst: 1e9, perSecond: 1e9 };
const nothing = (): void => undefined;

const api = await startApi({
  port: 0,
  store,
  connections: createConnectionsClient({
    temporal: new Client({ connection }),
    identityKey,
  }),
  apps: createAppsClient({ temporal: new Client({ connection }) }),
  auditExports: { wake: () => Promise.resolve(), test: () => Promise.resolve({ success: true, stage: 'complete' }) },
  settings: {
    publicUrl: settings.publicUrl,
    plan: settings.plan,
    browserBaseUrl: 'http://127.0.0.1:9',
    browserApiKey: 'none',
    addressRateLimit: unlimited,
    credentialRateLimit: unlimited,
  },
  addressPolicy: { isListed: () => false, forbiddenRange },
  checkProxy: () => Promise.resolve(false),
  fetchSource: () => Promise.reject(new Error('deployments are not supported')),
  externalCredentials: createExternalCredentials({
    providers: store.credentialProviders,
    egress: createEgressPolicy(),
  }),
  signingKey,
  logger: { info: nothing, warn: nothing, error: nothing },
  clock: () => new Date(),
  health: () => Promise.resolve({}),
});
process.on('disconnect', () => process.exit(0));
process.send?.(api.url);
