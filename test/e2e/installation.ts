import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { inject } from 'vitest';
import { startApi } from '../../api/service.ts';
import type { BrowserServiceSettings } from '../../browser-client/service.ts';
import { startBrowserService } from '../../browser/service.ts';
import { createAppsClient } from '../../client/apps-client.ts';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import { createWebhookLanes } from '../../client/delivery-clients.ts';
import { createCodeInbox } from '../../codes/inbox.ts';
import { startCodeDelivery, startWebhookDispatcher } from '../../start/periodic-tasks.ts';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy, forbiddenRange, isListedHost } from '../../egress/policy.ts';
import { createUpstreamCheck } from '../../egress/upstream-check.ts';
import { createGithubFetcher, GITHUB_API_URL } from '../../program-sources/github.ts';
import { startSandbox } from '../../sandbox/site.ts';
import { createHealth } from '../../start/health.ts';
import { sharedKeys } from '../../start/keys.ts';
import { freePort } from '../setup/free-port-block.ts';
import { createStore, type Store } from '../../store/store.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { startWorker, type WorkerOptions } from '../../workers/worker.ts';
import { startDevServer } from '../setup/temporal-server.ts';
import { workflowBundle } from '../setup/workflow-bundle.ts';
import { startDatabase } from '../store/databases.ts';
import { createPractice, type Practice } from './practice.ts';

/** All of Holdfast in one process, wired as in `npm start`, on free ports and in a temporary folder. */
export interface Installation {
  /** The unmodified public client. */
  kernel: Kernel;
  baseUrl: string;
  apiKey: string;
  practice: Practice;
  /** The dev server, for a test's own Temporal clients. */
  temporal: { address: string; namespace: string; client: TestWorkflowEnvironment['client'] };
  connections: ConnectionsClient;
  browserService: BrowserServiceSettings;
  store: Store;
  /** URL of the database. */
  databaseUrl: string;
  masterKey: Buffer;
  /** The keys that every part gets on a reload; the first one wraps. */
  masterKeys: Buffer[];
  close(): Promise<void>;
}

/** Operator settings. `captchaKey` enables the practice site's CAPTCHA solver and selects its behavior. */
export type InstallationOptions = { allowHosts?: string[]; captchaKey?: string } & Pick<WorkerOptions, 'model'>;

const NAMESPACE = 'default';
const silent = pino({ level: 'silent' });

/** Starts an installation; if a part fails to start, stops the others. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const teardowns: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of teardowns.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(options, teardowns)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts all parts in order of dependency; adds their teardowns to `teardowns`. */
async function start(
  { allowHosts = [], model, captchaKey }: InstallationOptions,
  teardowns: (() => Promise<unknown>)[],
): Promise<Omit<Installation, 'close'>> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-e2e-'));
  teardowns.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const masterKey = randomBytes(32);
  const apiKey = `e2e-${randomBytes(16).toString('hex')}`;
  const masterKeys = [masterKey];

  const database = await startDatabase();
  teardowns.push(() => database.stop());
  const reloadMasterKeys = () => Promise.resolve(masterKeys);
  const store = createStore({ connection: database.connection, masterKey, reloadMasterKeys });
  teardowns.push(() => store.close());
  await store.bootstrap({ plan: 'enterprise', apiKey });
  const { signingKey, identityKey, payloadKeys } = await sharedKeys(store, { masterKey });

  // In memory, because it is never restarted and each workflow step would wait for the disk.
  const env = await startDevServer({
    server: { namespace: NAMESPACE, log: { format: 'json', level: 'error' } },
    client: { dataConverter: createDataConverter(payloadKeys) },
  });
  teardowns.push(() => env.teardown());

  const sandbox = await startSandbox({ port: 0, stateFile: join(folder, 'sandbox.json') });
  teardowns.push(() => sandbox.close());
  const policy = createEgressPolicy(
    [`localhost:${sandbox.port}`, `127.0.0.1:${sandbox.port}`, ...allowHosts].join(','),
  );
  const browserKey = randomBytes(16).toString('hex');
  const browser = await startBrowserService({
    port: 0,
    apiKey: browserKey,
    chromiumPath: inject('chromiumPath'),
    workDir: join(folder, 'browsers'),
    maxSessions: 20,
    windows: 'on-request',
    policy,
    profiles: store.profiles,
    proxies: store.proxies,
    extensions: store.extensions,
    pools: store.browserPools,
    sessionLimit: (projectId) => store.sessionLimits.effective(projectId),
    logger: silent,
  });
  teardowns.push(() => browser.close());
  const browserService = { baseUrl: browser.url, apiKey: browserKey };
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const worker = await startWorker({
    apiUrl: baseUrl,
    connection: env.nativeConnection,
    namespace: NAMESPACE,
    store,
    browserService,
    egress: policy,
    payloadKey: payloadKeys,
    workflowBundle: await workflowBundle(),
    model,
    captchaSolver: captchaKey === undefined ? undefined : { url: `${sandbox.url}/captcha-solver`, key: captchaKey },
  });
  teardowns.push(() => worker.close());

  const connections = createConnectionsClient({
    temporal: env.client,
    identityKey,
    // Long enough for a machine that stalls.
    timeoutMs: 200_000,
  });
  const lanes = createWebhookLanes({ temporal: env.client });
  const tasks = [
    startWebhookDispatcher(store.webhookDeliveries, lanes),
    startCodeDelivery(createCodeInbox({ store, connections, clock: () => new Date() })),
  ];
  teardowns.push(async () => {
    for (const task of tasks) task.stop();
  });
  const api = await startApi({
    port,
    store,
    connections,
    apps: createAppsClient({ temporal: env.client }),
    auditExports: { wake: async () => undefined, test: async () => ({ success: true, stage: 'complete' }) },
    settings: {
      publicUrl: baseUrl,
      plan: 'enterprise',
      browserBaseUrl: browserService.baseUrl,
      browserApiKey: browserService.apiKey,
    },
    addressPolicy: { isListed: (host, at) => isListedHost(policy, host, at), forbiddenRange },
    checkProxy: createUpstreamCheck({ policy }),
    fetchSource: createGithubFetcher({ apiUrl: GITHUB_API_URL, egress: policy }),
    externalCredentials: createExternalCredentials({ providers: store.credentialProviders, egress: policy }),
    signingKey,
    logger: silent,
    clock: () => new Date(),
    health: createHealth({ store, connection: env.connection, namespace: NAMESPACE, browser: browserService }),
  });
  teardowns.push(() => api.close());
  return {
    kernel: new Kernel({ apiKey, baseURL: baseUrl }),
    baseUrl,
    apiKey,
    practice: createPractice(sandbox.url),
    temporal: { address: env.address, namespace: NAMESPACE, client: env.client },
    connections,
    browserService,
    store,
    databaseUrl: database.connection.url,
    masterKey,
    masterKeys,
  };
}
