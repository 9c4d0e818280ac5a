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
  // Made before: an activity that is let go before it was taken ends as soon as it is.
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

/** Starts the workflow, waits until the server has what it begins with, and tells it to go on. */
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

/** What our tests rest on, and what the published server does not hold: see test/setup/test-server.ts. */
describe('the time-skipping server', () => {
  it.each([
    ['cancelsUntakenActivity', 'cancelled'],
    ['cancelsWaitingActivity', 'cancelled'],
    ['closesOverActivity', 'closed'],
    ['cancelsFiredTimer', 'cancelled'],
    ['cancelsEndedActivity', 'cancelled'],
  ])('continues after a workflow that %s, and skips time', async (workflowType, end) => {
    expect(await run(workflowType)).toBe(end);
    // In real time that would take longer than any test may.
    await env.sleep('30 days');
  });
});
