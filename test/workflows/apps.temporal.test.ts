import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createAppsClient, type AppsClient } from '../../client/apps-client.ts';
import type { AppActivities, InvocationFault } from '../../contract/activities.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';

/** What each run of an action comes to, in order; the last is what all later ones come to. */
type Run = 'done' | 'failed' | 'unavailable' | 'broken' | 'long';
let runs: Run[] = [];
const seen: { isLast: boolean }[] = [];
const ends: (InvocationFault | null)[] = [];
let builds: ('done' | 'broken')[] = [];
let endedBuilds = 0;
/** Lets long runs come to their end, when no test looks any more. */
let finish = (): void => undefined;
const over = new Promise<void>((resolve) => (finish = resolve));

const apps: AppActivities = {
  buildDeployment: async () => {
    if (builds.shift() === 'broken') throw ApplicationFailure.nonRetryable('it cannot be', 'internal_error');
  },
  endDeployment: async () => {
    endedBuilds += 1;
  },
  runInvocation: async ({ isLast }) => {
    seen.push({ isLast });
    const run = runs.length > 1 ? runs.shift() : runs[0];
    if (run === 'unavailable') throw ApplicationFailure.create({ type: 'service_unavailable', message: 'it is away' });
    if (run === 'broken') throw ApplicationFailure.create({ type: 'browser_error', message: 'it broke off' });
    if (run === 'long') await over;
    return run === 'done' || isLast;
  },
  endInvocation: async ({ fault }) => {
    ends.push(fault);
  },
};

let tests: WorkflowTests;
let client: AppsClient;
beforeAll(async () => {
  tests = await startWorkflowTests('time-skipping', {}, undefined, apps);
  client = createAppsClient({ temporal: tests.env.client, taskQueue: 'test' });
});
afterAll(async () => {
  finish();
  await tests.close();
});
beforeEach(() => {
  seen.length = 0;
  ends.length = 0;
});

/** Runs an invocation to its end. */
async function invoke(what: Run[], retries = 0, timeoutMs = 600_000): Promise<void> {
  runs = [...what];
  const invocationId = randomUUID();
  await client.invoke({ invocationId, timeoutMs, retries });
  // Twice is once.
  await client.invoke({ invocationId, timeoutMs, retries });
  await tests.env.client.workflow.getHandle(`invocation-${invocationId}`).result();
}

it('runs once, and once only without retries, whatever comes of it', async () => {
  for (const run of ['done', 'failed'] as const) await invoke([run]);
  expect(seen).toEqual([{ isLast: true }, { isLast: true }]);
  expect(ends).toEqual([null, null]);
});

it('runs again after failures for as often as it may', async () => {
  await invoke(['failed', 'failed', 'done'], 2);
  expect(seen.map(({ isLast }) => isLast)).toEqual([false, false, true]);
  await invoke(['failed', 'done'], 5);
  expect(seen.map(({ isLast }) => isLast)).toEqual([false, false, true, false, false]);
});

it('counts a run that was lost, and ends with the reason', async () => {
  await invoke(['broken']);
  expect([seen.length, ends]).toEqual([1, ['lost']]);
  await invoke(['broken', 'done'], 1);
  expect([seen.length, ends]).toEqual([3, ['lost', null]]);
});

it('waits for what cannot begin, and counts it for nothing', async () => {
  await invoke(['unavailable', 'unavailable', 'unavailable', 'done']);
  expect([seen.length, ends]).toEqual([4, [null]]);
  await invoke(['unavailable'], 0, 90_000);
  expect(ends).toEqual([null, 'unavailable']);
});

it('ends when its time is over', async () => {
  await invoke(['long'], 0, 1000);
  expect(ends).toEqual(['timed_out']);
});

it('cleans up when it is ended by its caller', async () => {
  runs = ['long'];
  const invocationId = randomUUID();
  await client.invoke({ invocationId, timeoutMs: 600_000, retries: 0 });
  expect(await client.state('invocation', invocationId)).toBe('running');
  await client.cancel('invocation', invocationId);
  await tests.env.client.workflow.getHandle(`invocation-${invocationId}`).result();
  expect(ends).toEqual(['canceled']);
  await client.cancel('invocation', invocationId);
  expect(await client.state('invocation', invocationId)).toBe('ended');
  expect(await client.state('invocation', 'never-begun')).toBe('none');
});

it('ends a deployment whose build cannot be made', async () => {
  builds = ['done', 'broken'];
  for (const id of [randomUUID(), randomUUID()]) {
    await client.deploy(id);
    await tests.env.client.workflow.getHandle(`deployment-${id}`).result();
  }
  expect(endedBuilds).toBe(1);
});
