import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { connectionIdFor, workflowIdOf } from '../../client/identity.ts';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import type { ConnectionSettings } from '../../contract/document.ts';
import type { authConnection as entity } from '../../workflows/index.ts';
import { startWorkers, type WorkersOptions } from '../../workers/worker.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { SEARCH_ATTRIBUTES } from '../../workflows/search-attributes.ts';
import { WORKFLOWS } from '../../workflows/messages.ts';
import { startDevServer, startTimeSkippingServer } from '../setup/temporal-server.ts';
import { workflowBundle } from '../setup/workflow-bundle.ts';
import { createScriptedWorld, type ScriptedWorld } from './scripted-world.ts';

export const PAYLOAD_KEY = Buffer.alloc(32, 7);
export const IDENTITY_KEY = Buffer.alloc(32, 9);
/** How long a test's client waits for a worker: long enough that only a hang reaches it, even on a stalled machine. */
export const PATIENCE_MS = 200_000;

/** Servers start a workflow's runs at least a second apart, which tests of two runs would otherwise wait for. */
const RUN_AFTER_RUN = ['--dynamic-config-value', 'history.workflowIdReuseMinimalInterval="10ms"'];

/** Settings of a connection under test. */
export function settings(more: Partial<ConnectionSettings> = {}): ConnectionSettings {
  return {
    domain: 'site.example',
    profile_name: 'anna',
    auto_reauth: true,
    health_check_interval: 3600,
    health_checks: true,
    record_session: false,
    save_credentials: true,
    ...more,
  };
}

/** A time-skipping server with a worker whose activities are a scripted world. */
export interface WorkflowTests {
  env: TestWorkflowEnvironment;
  client: ConnectionsClient;
  world: ScriptedWorld;
  /** Creates a connection with a unique name. */
  create(more?: Partial<ConnectionSettings>): Promise<string>;
  /** Creates a connection whose entity continues as new whenever something was recorded. */
  createRestless(more?: Partial<ConnectionSettings>): Promise<string>;
  /** Stops the worker and starts another with an empty cache; `meanwhile` runs in between. */
  takeOver(meanwhile: () => Promise<void>): Promise<void>;
  /** Resets the scripted world. */
  reset(): void;
  /** Ends every created connection, which would otherwise act during the next test. */
  removeAll(): Promise<void>;
  close(): Promise<void>;
}

let names = 0;

/**
 * Starts one per test file, on the time-skipping server or on a full one, which is reliable when an entity continues as new
 * with an open child or is terminated externally.
 */
export async function startWorkflowTests(
  kind: 'time-skipping' | 'whole' = 'time-skipping',
  concurrency: NonNullable<WorkersOptions['concurrency']> = {},
  webhooks: WorkersOptions['webhooks'] = { deliverNext: () => Promise.resolve({ next: 'none' }) },
  apps?: WorkersOptions['apps'],
  auditExports?: WorkersOptions['auditExports'],
): Promise<WorkflowTests> {
  const options = { client: { dataConverter: createDataConverter(PAYLOAD_KEY) } };
  const env =
    kind === 'whole'
      ? await startDevServer({
          ...options,
          server: { searchAttributes: [...SEARCH_ATTRIBUTES], extraArgs: RUN_AFTER_RUN },
        })
      : await startTimeSkippingServer(options);
  const world = createScriptedWorld();
  const bundle = await workflowBundle();
  const start = () =>
    startWorkers({
      connection: env.nativeConnection,
      namespace: 'default',
      taskQueue: 'test',
      workflowBundle: bundle,
      payloadKey: PAYLOAD_KEY,
      records: world.records,
      browsing: world.browsing,
      quickChecks: world.quickChecks,
      webhooks,
      concurrency,
      ...(apps === undefined ? {} : { apps }),
      ...(auditExports === undefined ? {} : { auditExports }),
    });
  let worker = await start();
  const created: string[] = [];
  const connections = createConnectionsClient({
    temporal: env.client,
    identityKey: IDENTITY_KEY,
    taskQueue: 'test',
    findDocument: (id) => Promise.resolve(world.rows.get(id) ?? null),
    timeoutMs: PATIENCE_MS,
    search: kind === 'whole' ? { domains: 'hashed' } : null,
  });
  return {
    env,
    client: connections,
    world,
    async create(more = {}) {
      names += 1;
      const { document } = await connections.create({
        organizationId: 'org_default',
        projectId: 'prj_default',
        settings: settings({ profile_name: `profile-${String(names)}`, ...more }),
      });
      created.push(document.id);
      return document.id;
    },
    async createRestless(more = {}) {
      names += 1;
      const scope = { organizationId: 'org_default', projectId: 'prj_default' };
      const wanted = settings({ profile_name: `profile-${String(names)}`, ...more });
      const id = connectionIdFor(IDENTITY_KEY, {
        projectId: scope.projectId,
        profileName: wanted.profile_name,
        domain: wanted.domain,
      });
      const seed = { id, ...scope, settings: wanted };
      await env.client.workflow.start<typeof entity>(WORKFLOWS.connection, {
        workflowId: workflowIdOf(id),
        taskQueue: 'test',
        args: [{ schemaVersion: 2, begin: { how: 'new', seed }, continueAlways: true }],
      });
      created.push(id);
      while (!world.rows.has(id)) await new Promise((resolve) => setTimeout(resolve, 25));
      return id;
    },
    async takeOver(meanwhile) {
      await worker.close();
      await meanwhile();
      worker = await start();
    },
    reset() {
      const { records: _records, browsing: _browsing, quickChecks: _quickChecks, ...fresh } = createScriptedWorld();
      Object.assign(world, fresh);
    },
    async removeAll() {
      for (const id of created.splice(0)) await connections.remove(id).catch(() => undefined);
    },
    async close() {
      await worker.close();
      await env.teardown();
    },
  };
}
