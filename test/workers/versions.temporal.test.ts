import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConnectionsClient } from '../../client/connections-client.ts';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { workflowIdOf } from '../../client/identity.ts';
import type { ConnectionDocument, ConnectionSettings } from '../../contract/document.ts';
import { createHealth } from '../../start/health.ts';
import { TASK_QUEUE } from '../../workflows/messages.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { startWorkers } from '../../workers/worker.ts';
import { until } from '../e2e/until.ts';
import { startDevServer } from '../setup/temporal-server.ts';
import { workflowBundle } from '../setup/workflow-bundle.ts';
import { PATIENCE_MS, PAYLOAD_KEY, settings } from '../workflows/environment.ts';
import { CODE_PAGE, createScriptedWorld, INSIDE, type ScriptedWorld } from '../workflows/scripted-world.ts';

/** Worker deployments need a full server: the time-skipping one does not support them. */
let env: TestWorkflowEnvironment;
let client: ConnectionsClient;
let bundle: WorkflowBundleWithSourceMap;

beforeAll(async () => {
  env = await startDevServer({ client: { dataConverter: createDataConverter(PAYLOAD_KEY) } });
  client = createConnectionsClient({
    temporal: env.client,
    identityKey: Buffer.alloc(32, 9),
    taskQueue: TASK_QUEUE,
    timeoutMs: PATIENCE_MS,
  });
  bundle = await workflowBundle();
}, 120_000);

afterAll(async () => {
  await env.teardown();
});

it('moves a sleeping connection to the version that became current', async () => {
  const first = await startVersion('1');
  const id = await createConnection('asleep');
  await first.stop();

  const second = await startVersion('2');
  await client.configure(id, { auto_reauth: false });
  expect(await versionOf(workflowIdOf(id))).toBe('2');
  const health = createHealth({
    store: { ping: () => Promise.resolve() },
    connection: env.connection,
    namespace: 'default',
    browser: { baseUrl: 'http://127.0.0.1:9', apiKey: 'none' },
  });
  expect((await health())['worker']).toEqual({ ready: true });
  await second.stop();
});

it(
  'ends an open login on the version that it began on, while its connection moves on',
  { timeout: 120_000 },
  async () => {
    const first = await startVersion('3');
    const id = await createConnection('logging in');
    await client.login(id);
    const { flow } = await waiting(id, 'field_user');
    const flowId = flow?.flow_id ?? '';

    const second = await startVersion('4');
    await client.configure(id, { auto_reauth: false });
    expect(await versionOf(workflowIdOf(id))).toBe('4');
    first.world.answers = [CODE_PAGE, INSIDE];
    await submit(id, 'sub_1', ['field_user', 'field_password']);
    await waiting(id, 'field_code');
    await submit(id, 'sub_2', ['field_code']);
    await until(
      'the end of the login',
      () => client.read(id),
      ({ flow: now }) => now?.flow_status === 'SUCCESS',
    );
    expect(await versionOf(flowId)).toBe('3');
    expect(first.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_1', 'sub_2']);
    expect(second.world.entered).toEqual([]);
    expect(second.world.rows.get(id)?.status).toBe('AUTHENTICATED');

    await client.login(id);
    const next = await waiting(id, 'field_user');
    expect(await versionOf(next.flow?.flow_id ?? '')).toBe('4');
    await client.remove(id);
    await Promise.all([first.stop(), second.stop()]);
  },
);

it('continues a watch on the version that became current', { timeout: 120_000 }, async () => {
  const world = createScriptedWorld();
  world.learns = true;
  world.discovered = [INSIDE];
  const first = await startVersion('5', world);
  const id = await createConnection('watched', { health_checks: true, health_check_interval: 2 });
  await client.login(id);
  const reached = (count: number) =>
    until(
      `${String(count)} checks`,
      () => Promise.resolve(world.quickly),
      (made) => made >= count,
    );
  await reached(3);
  const second = await startVersion('6', world);
  await first.stop();
  await reached(world.quickly + 3);
  expect(await versionOf(workflowIdOf(id))).toBe('6');
  // Only the login needed a browser.
  expect(world.checksBegun).toBe(1);
  await client.remove(id);
  await second.stop();
});

async function createConnection(profile: string, more: Partial<ConnectionSettings> = {}): Promise<string> {
  const { document } = await client.create({
    organizationId: 'org_default',
    projectId: 'prj_default',
    settings: settings({ profile_name: profile, health_checks: false, ...more }),
  });
  return document.id;
}

/** The connection once its flow asks for a field. */
async function waiting(id: string, fieldId: string): Promise<ConnectionDocument> {
  return await until(
    fieldId,
    () => client.read(id),
    ({ flow }) => flow?.interaction?.fields[0]?.id === fieldId,
  );
}

async function submit(id: string, submissionId: string, fieldIds: string[]): Promise<void> {
  const interactionId = (await client.read(id)).flow?.interaction?.interaction_id ?? '';
  await client.submit(id, { submissionId, interactionId, fieldIds, selectedChoiceId: null });
}

/** The build of a workflow's last task. */
async function versionOf(workflowId: string): Promise<string | null | undefined> {
  const { raw } = await env.client.workflow.getHandle(workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId;
}

const DEPLOYMENT = 'logins';

/** A worker of a version, made current as by an operator. */
async function startVersion(
  buildId: string,
  world = createScriptedWorld(),
): Promise<{ world: ScriptedWorld; stop(): Promise<void> }> {
  const worker = await startWorkers({
    connection: env.nativeConnection,
    namespace: 'default',
    workflowBundle: bundle,
    payloadKey: PAYLOAD_KEY,
    version: { deploymentName: DEPLOYMENT, buildId },
    records: world.records,
    browsing: world.browsing,
    quickChecks: world.quickChecks,
    webhooks: { deliverNext: () => Promise.resolve({ next: 'none' }) },
  });
  const { workflowService } = env.connection;
  const current = { namespace: 'default', deploymentName: DEPLOYMENT, buildId };
  // The server knows a version once its worker has polled.
  const isCurrent = () =>
    workflowService.setWorkerDeploymentCurrentVersion(current).then(
      () => true,
      () => false,
    );
  await until('the version', isCurrent, (done) => done);
  return { world, stop: () => worker.close() };
}
