import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createAppsClient, type AppsClient } from '../../client/apps-client.ts';
import { createAppWorld, type Run } from './app-scenarios.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';

const world = createAppWorld();
let tests: WorkflowTests;
let client: AppsClient;
beforeAll(async () => {
  tests = await startWorkflowTests('time-skipping', {}, undefined, world.apps);
  client = createAppsClient({ temporal: tests.env.client, taskQueue: 'test' });
});
afterAll(async () => {
  world.finish();
  await tests.close();
});
beforeEach(() => {
  world.seen = [];
  world.ends = [];
});

/** Runs an invocation to its end. */
async function invoke(what: Run[], retries = 0, timeoutMs = 600_000): Promise<void> {
  world.runs = [...what];
  const invocationId = randomUUID();
  await client.invoke({ invocationId, timeoutMs, retries });
  // Starting it again has no effect.
  await client.invoke({ invocationId, timeoutMs, retries });
  await tests.env.client.workflow.getHandle(`invocation-${invocationId}`).result();
}

it('runs only once without retries, whatever the result', async () => {
  for (const run of ['done', 'failed'] as const) await invoke([run]);
  expect(world.seen).toEqual([{ isLast: true }, { isLast: true }]);
  expect(world.ends).toEqual([null, null]);
});

it('retries after failures as often as allowed', async () => {
  await invoke(['failed', 'failed', 'done'], 2);
  expect(world.seen.map(({ isLast }) => isLast)).toEqual([false, false, true]);
  await invoke(['failed', 'done'], 5);
  expect(world.seen.map(({ isLast }) => isLast)).toEqual([false, false, true, false, false]);
});

it('counts a lost run as a failure, and ends with the reason', async () => {
  await invoke(['broken']);
  expect([world.seen.length, world.ends]).toEqual([1, ['lost']]);
  await invoke(['broken', 'done'], 1);
  expect([world.seen.length, world.ends]).toEqual([3, ['lost', null]]);
});

it('waits if a run cannot start, without counting it', async () => {
  await invoke(['unavailable', 'unavailable', 'unavailable', 'done']);
  expect([world.seen.length, world.ends]).toEqual([4, [null]]);
  await invoke(['unavailable'], 0, 90_000);
  expect(world.ends).toEqual([null, 'unavailable']);
});

it('ends at its timeout', async () => {
  await invoke(['long'], 0, 1000);
  expect(world.ends).toEqual(['timed_out']);
});

it('cleans up when its caller cancels it', async () => {
  world.runs = ['long'];
  const invocationId = randomUUID();
  await client.invoke({ invocationId, timeoutMs: 600_000, retries: 0 });
  expect(await client.state('invocation', invocationId)).toBe('running');
  await client.cancel('invocation', invocationId);
  await tests.env.client.workflow.getHandle(`invocation-${invocationId}`).result();
  expect(world.ends).toEqual(['canceled']);
  await client.cancel('invocation', invocationId);
  expect(await client.state('invocation', invocationId)).toBe('ended');
  expect(await client.state('invocation', 'never-begun')).toBe('none');
});

it('ends a deployment whose build fails permanently', async () => {
  world.builds = ['done', 'broken'];
  for (const id of [randomUUID(), randomUUID()]) {
    await client.deploy(id);
    await tests.env.client.workflow.getHandle(`deployment-${id}`).result();
  }
  expect(world.endedBuilds).toBe(1);
});
