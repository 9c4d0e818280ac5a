import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
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

/** Everything of Holdfast in one process, on free ports and in a temporary folder, as `npm start` wires it. */
export interface Installation {
  /** The public client, unmodified, over sockets. */
  kernel: Kernel;
  baseUrl: string;
  apiKey: string;
  practice: Practice;
  /** Address of the dev server, for Temporal clients of a test's own. */
  temporal: { address: string; namespace: string; client: TestWorkflowEnvironment['client'] };
  connections: ConnectionsClient;
  browserService: BrowserServiceSettings;
  store: Store;
  /** URL of the database. */
  databaseUrl: string;
  masterKey: Buffer;
  /** What every part finds when it reads the master keys again: the one that wraps first. */
  masterKeys: Buffer[];
  close(): Promise<void>;
}

/** What an operator may set. `captchaKey`: the practice site's solver is asked, which knows by the key how to behave. */
export type InstallationOptions = { allowHosts?: string[]; captchaKey?: string } & Pick<WorkerOptions, 'model'>;

const NAMESPACE = 'default';
const silent = pino({ level: 'silent' });

/** Starts one; one for each test file, for two cores carry no more. What has started is ended when a part fails. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    return { ...(await start(options, opened)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Starts every part in the order of its needs; what ends them is added to `opened`. */
async function start(
  { allowHosts = [], model, captchaKey }: InstallationOptions,
  opened: (() => Promise<unknown>)[],
): Promise<Omit<Installation, 'close'>> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-e2e-'));
  opened.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  const masterKey = randomBytes(32);
  const apiKey = `e2e-${randomBytes(16).toString('hex')}`;
  const masterKeys = [masterKey];
  quietRuntime();

  const database = await startDatabase();
  opened.push(() => database.stop());
  const reloadMasterKeys = () => Promise.resolve(masterKeys);
  const store = createStore({ connection: database.connection, masterKey, reloadMasterKeys });
  opened.push(() => store.close());
  await store.bootstrap({ plan: 'enterprise', apiKey });
  const { signingKey, identityKey, payloadKeys } = await sharedKeys(store, { masterKey });

  // In memory, for nothing starts it again: each step of a workflow would wait for the disk.
  const env = await startDevServer({
    server: { namespace: NAMESPACE, log: { format: 'json', level: 'error' } },
    client: { dataConverter: createDataConverter(payloadKeys) },
  });
  opened.push(() => env.teardown());

  const sandbox = await startSandbox({ port: 0, stateFile: join(folder, 'sandbox.json') });
  opened.push(() => sandbox.close());
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
  opened.push(() => browser.close());
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
  opened.push(() => worker.close());

  const connections = createConnectionsClient({
    temporal: env.client,
    identityKey,
    // Only a hang takes it, even on a machine that stands still for a while.
    timeoutMs: 200_000,
  });
  const lanes = createWebhookLanes({ temporal: env.client });
  const tasks = [
    startWebhookDispatcher(store.webhookDeliveries, lanes),
    startCodeDelivery(createCodeInbox({ store, connections, clock: () => new Date() })),
  ];
  opened.push(async () => {
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
  opened.push(() => api.close());
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

/** A worker's notes of every start and end would drown what a failing test says. Once for each process. */
let quiet = false;
function quietRuntime(): void {
  if (quiet) return;
  quiet = true;
  Runtime.install({ logger: new DefaultLogger('WARN') });
}
