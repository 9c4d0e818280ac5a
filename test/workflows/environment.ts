import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { Worker, type WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import type { ConnectionSettings } from '../../contract/document.ts';
import { bundleWorkflows } from '../../workers/worker.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { startTimeSkippingServer } from '../setup/temporal-server.ts';
import { createScriptedWorld, type ScriptedWorld } from './scripted-world.ts';

export const PAYLOAD_KEY = Buffer.alloc(32, 7);
const IDENTITY_KEY = Buffer.alloc(32, 9);

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
  /** A new connection of its own name. */
  create(more?: Partial<ConnectionSettings>): Promise<string>;
  /** Puts the scripted world back to its beginning. */
  reset(): void;
  /** Ends every connection that was created: what is left of one test would act in the next one's time. */
  removeAll(): Promise<void>;
  close(): Promise<void>;
}

let bundle: Promise<WorkflowBundleWithSourceMap> | null = null;
let names = 0;

/** Starts one; one environment per test file. */
export async function startWorkflowTests(): Promise<WorkflowTests> {
  const env = await startTimeSkippingServer({ client: { dataConverter: createDataConverter(PAYLOAD_KEY) } });
  const world = createScriptedWorld();
  bundle ??= bundleWorkflows();
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: 'test',
    workflowBundle: await bundle,
    activities: world.activities,
    dataConverter: createDataConverter(PAYLOAD_KEY),
  });
  const running = worker.run();
  const created: string[] = [];
  const client = createConnectionsClient({ temporal: env.client, identityKey: IDENTITY_KEY, taskQueue: 'test' });
  return {
    env,
    client,
    world,
    async create(more = {}) {
      names += 1;
      const { document } = await client.create({
        organizationId: 'org_default',
        projectId: 'prj_default',
        settings: settings({ profile_name: `profile-${String(names)}`, ...more }),
      });
      created.push(document.id);
      return document.id;
    },
    reset() {
      const { activities: _activities, ...fresh } = createScriptedWorld();
      Object.assign(world, fresh);
    },
    async removeAll() {
      for (const id of created.splice(0)) await client.remove(id).catch(() => undefined);
    },
    async close() {
      worker.shutdown();
      await running;
      await env.teardown();
    },
  };
}
