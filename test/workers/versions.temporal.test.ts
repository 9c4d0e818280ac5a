import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { workflowIdOf } from '../../client/identity.ts';
import { createHealth } from '../../start/health.ts';
import { TASK_QUEUE } from '../../workflows/messages.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { bundleWorkflows, startWorkers } from '../../workers/worker.ts';
import { until } from '../e2e/process-tree.ts';
import { startDevServer } from '../setup/temporal-server.ts';
import { PAYLOAD_KEY, settings } from '../workflows/environment.ts';
import { createScriptedWorld } from '../workflows/scripted-world.ts';

/** Worker deployments need a whole server: the time-skipping one does not know them. */
let env: TestWorkflowEnvironment;

beforeAll(async () => {
  env = await startDevServer({ client: { dataConverter: createDataConverter(PAYLOAD_KEY) } });
}, 120_000);

afterAll(async () => {
  await env.teardown();
});

it('moves a sleeping connection on to the version that was made current', { timeout: 120_000 }, async () => {
  const client = createConnectionsClient({
    temporal: env.client,
    identityKey: Buffer.alloc(32, 9),
    taskQueue: TASK_QUEUE,
  });
  const first = await startVersion('1');
  const { document } = await client.create({
    organizationId: 'org_default',
    projectId: 'prj_default',
    settings: settings({ health_checks: false }),
  });
  await first.stop();

  const second = await startVersion('2');
  await client.configure(document.id, { auto_reauth: false });
  const { raw } = await env.client.workflow.getHandle(workflowIdOf(document.id)).describe();
  expect(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId).toBe('2');
  const health = createHealth({
    store: { ping: () => Promise.resolve() },
    connection: env.connection,
    namespace: 'default',
    browser: { baseUrl: 'http://127.0.0.1:9', apiKey: 'none' },
  });
  expect((await health())['worker']).toEqual({ ready: true });
  await second.stop();
});

const DEPLOYMENT = 'logins';

/** A worker of a version, made the current one as an operator would. */
async function startVersion(buildId: string): Promise<{ stop(): Promise<void> }> {
  const world = createScriptedWorld();
  const worker = await startWorkers({
    connection: env.nativeConnection,
    namespace: 'default',
    workflowBundle: await bundleWorkflows(),
    payloadKey: PAYLOAD_KEY,
    version: { deploymentName: DEPLOYMENT, buildId },
    records: world.records,
    browsing: world.browsing,
  });
  const { workflowService } = env.connection;
  const current = { namespace: 'default', deploymentName: DEPLOYMENT, buildId };
  // The server knows a version once its worker has polled.
  await until(
    () => workflowService.setWorkerDeploymentCurrentVersion(current).catch(() => null),
    30_000,
    'the version',
  );
  return {
    stop: () => worker.close(),
  };
}
