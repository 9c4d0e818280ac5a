import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { pino } from 'pino';
import { inject } from 'vitest';
import { startApi } from '../../api/service.ts';
import { startBrowserService } from '../../browser/service.ts';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { createEgressPolicy, forbiddenRange, isListedHost } from '../../egress/policy.ts';
import { startSandbox } from '../../sandbox/site.ts';
import { createHealth } from '../../start/health.ts';
import { purposeKey } from '../../start/keys.ts';
import { createStore, type Store } from '../../store/store.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { bundleWorkflows, startWorker } from '../../workers/worker.ts';
import { startDatabase, type DatabaseKind } from '../store/databases.ts';
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
  store: Store;
  /** URL of the database; empty for the embedded one, which has none. */
  databaseUrl: string;
  masterKey: Buffer;
  close(): Promise<void>;
}

const NAMESPACE = 'default';
const silent = pino({ level: 'silent' });
let bundle: Promise<WorkflowBundleWithSourceMap> | null = null;

/** Starts one; one for each test file, for two cores carry no more. */
export async function startInstallation(options: { database?: DatabaseKind } = {}): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'hf-e2e-'));
  const masterKey = randomBytes(32);
  const apiKey = `e2e-${randomBytes(16).toString('hex')}`;
  const browserKey = randomBytes(16).toString('hex');
  const payloadKey = purposeKey(masterKey, 'temporal-payloads');
  quietRuntime();
  bundle ??= bundleWorkflows();
  const [env, database, sandbox, port] = await Promise.all([
    TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'existing-path', path: inject('temporalPath') },
        namespace: NAMESPACE,
        dbFilename: join(folder, 'temporal.db'),
        log: { format: 'json', level: 'error' },
      },
      client: { dataConverter: createDataConverter(payloadKey) },
    }),
    startDatabase(options.database ?? 'postgres'),
    startSandbox({ port: 0, stateFile: join(folder, 'sandbox.json') }),
    freePort(),
  ]);
  const store = createStore({ connection: database.connection, masterKey });
  await store.migrate();
  await store.bootstrap({ plan: 'enterprise', apiKey });

  const policy = createEgressPolicy(`localhost:${sandbox.port},127.0.0.1:${sandbox.port}`);
  const browser = await startBrowserService({
    port: 0,
    apiKey: browserKey,
    chromiumPath: inject('chromiumPath'),
    workDir: join(folder, 'browsers'),
    maxSessions: 20,
    policy,
    profiles: store.profiles,
    logger: silent,
  });
  const browserService = { baseUrl: browser.url, apiKey: browserKey };
  const worker = await startWorker({
    connection: env.nativeConnection,
    namespace: NAMESPACE,
    store,
    browserService,
    egress: policy,
    payloadKey,
    workflowBundle: await bundle,
  });
  const connections = createConnectionsClient({
    temporal: env.client,
    identityKey: purposeKey(masterKey, 'connection-identity'),
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  const api = await startApi({
    port,
    store,
    connections,
    settings: {
      publicUrl: baseUrl,
      plan: 'enterprise',
      browserBaseUrl: browserService.baseUrl,
      browserApiKey: browserService.apiKey,
    },
    addressPolicy: { isListed: (host, at) => isListedHost(policy, host, at), forbiddenRange },
    signingKey: purposeKey(masterKey, 'hosted-page'),
    logger: silent,
    clock: () => new Date(),
    health: createHealth({ store, connection: env.connection, namespace: NAMESPACE, browser: browserService }),
  });
  return {
    kernel: new Kernel({ apiKey, baseURL: baseUrl }),
    baseUrl,
    apiKey,
    practice: createPractice(sandbox.url),
    temporal: { address: env.address, namespace: NAMESPACE, client: env.client },
    connections,
    store,
    databaseUrl: 'url' in database.connection ? database.connection.url : '',
    masterKey,
    async close() {
      await api.close();
      await worker.close();
      await browser.close();
      await sandbox.close();
      await store.close();
      await env.teardown();
      await database.stop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

/** A worker's notes of every start and end would drown what a failing test says. Once for each process. */
let quiet = false;
function quietRuntime(): void {
  if (quiet) return;
  quiet = true;
  Runtime.install({ logger: new DefaultLogger('WARN') });
}

/** A port that is free now: the API must know its own address before it listens. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('no port'));
      });
    });
  });
}
