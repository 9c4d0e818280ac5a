import { ApplicationFailure } from '@temporalio/common';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTimeSkippingServer } from '../setup/temporal-server.ts';
import { type Cancellable, go, TIMER_MS } from './fixtures/cancellations.ts';

const TASK_QUEUE = 'cancellations';
/** Of `temporal.api.enums.v1.EventType`. */
const EVENT_TYPE_ACTIVITY_TASK_SCHEDULED = 10;
const EVENT_TYPE_TIMER_STARTED = 17;

let env: TestWorkflowEnvironment;
let worker: Worker;
let running: Promise<void>;
let timerStartedAt = 0;

beforeAll(async () => {
  env = await startTimeSkippingServer();
  const workflowsPath = fileURLToPath(new URL('fixtures/cancellations.ts', import.meta.url));
  let letGo = (): void => undefined;
  // Released before it is taken, so that the activity ends as soon as it starts.
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const activities: Cancellable = {
    held: () => released,
    again: () => Promise.reject(ApplicationFailure.create({ type: 'again', nextRetryDelay: '1 day' })),
    async timerHasFired() {
      while ((await env.currentTimeMs()) < timerStartedAt + 2 * TIMER_MS) await pause();
    },
    async heldHasEnded() {
      letGo();
      while ((await pendingActivities('cancelsEndedActivity')) > 0) await pause();
    },
  };
  worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: await bundleWorkflowCode({ workflowsPath }),
    activities,
  });
  running = worker.run();
});

afterAll(async () => {
  worker.shutdown();
  await running;
  await env.teardown();
});

const pause = () => new Promise((resolve) => setTimeout(resolve, 25));

async function pendingActivities(workflowId: string): Promise<number> {
  const { raw } = await env.client.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities?.length ?? 0;
}

async function attemptOf(workflowId: string): Promise<number> {
  const { raw } = await env.client.workflow.getHandle(workflowId).describe();
  return raw.pendingActivities?.[0]?.attempt ?? 0;
}

async function eventTypes(workflowId: string): Promise<number[]> {
  const { events } = await env.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).map(({ eventType }) => eventType ?? 0);
}

/** Starts the workflow, waits until the server has its first commands, and lets it continue. */
async function run(workflowType: string): Promise<unknown> {
  const handle = await env.client.workflow.start(workflowType, {
    workflowId: workflowType,
    taskQueue: TASK_QUEUE,
    args: [],
  });
  const begun = workflowType === 'cancelsFiredTimer' ? EVENT_TYPE_TIMER_STARTED : EVENT_TYPE_ACTIVITY_TASK_SCHEDULED;
  while (!(await eventTypes(workflowType)).includes(begun)) await pause();
  if (workflowType === 'cancelsWaitingActivity') while ((await attemptOf(workflowType)) < 2) await pause();
  timerStartedAt = await env.currentTimeMs();
  await handle.signal(go);
  return (await handle.result()) as unknown;
}

/** What these tests rely on and the published server does not provide: see test/setup/test-server.ts. */
describe('the time-skipping server', () => {
  it.each([
    ['cancelsUntakenActivity', 'cancelled'],
    ['cancelsWaitingActivity', 'cancelled'],
    ['closesOverActivity', 'closed'],
    ['cancelsFiredTimer', 'cancelled'],
    ['cancelsEndedActivity', 'cancelled'],
  ])('continues after a workflow that %s, and skips time', async (workflowType, end) => {
    expect(await run(workflowType)).toBe(end);
    // In real time this would exceed any test's timeout.
    await env.sleep('30 days');
  });
});
