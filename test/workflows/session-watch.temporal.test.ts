import { ApplicationFailure } from '@temporalio/common';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, STORED, until, watchedSession } from './scenarios.ts';

/** Activity events of `temporal.api.enums.v1.EventType`. */
const EVENT_TYPE_CANCEL_REQUESTED = 15;

let tests: WorkflowTests;

beforeAll(async () => {
  tests = await startWorkflowTests();
});
afterAll(async () => {
  await tests.close();
});
beforeEach(async () => {
  await tests.removeAll();
  tests.reset();
});
/** However a watch is interrupted, each check is recorded once and in order, and the row has the last one. */
afterEach(() => {
  const { checks, rows, states } = tests.world;
  const events = timeline();
  expect(events).toHaveLength(checks);
  const last = events.at(-1)?.timestamp;
  for (const { last_auth_check_at: at } of rows.values()) expect(at).toBe(last);
  const times = states.map(({ last_auth_check_at: at }) => at ?? '');
  expect(times).toEqual(times.toSorted());
  const revisions = states.map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
});

const timeline = (): TimelineEvent[] =>
  [...tests.world.timeline.values()].filter(({ type }) => type === 'health_check');
const historyLength = async (id: string): Promise<number> =>
  (await tests.env.client.workflow.getHandle(workflowIdOf(id)).describe()).historyLength;
/** Minutes between one check and the next. */
const gaps = (): number[] =>
  timeline()
    .map(({ timestamp }) => Date.parse(timestamp) / 60_000)
    .flatMap((at, index, all) => (index === 0 ? [] : [Math.round(at - (all[index - 1] ?? at))]));

/** A connection whose session has been watched for some checks. */
async function watched(): Promise<string> {
  const { world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await tests.client.check(id);
  await tests.env.sleep('17 minutes');
  expect(world.quickly).toBeGreaterThanOrEqual(2);
  return id;
}

it('makes a check each interval without adding to the history', async () => {
  const id = await watched();
  const [checks, events] = [tests.world.quickly, await historyLength(id)];
  await tests.env.sleep('100 minutes');
  expect(tests.world.quickly - checks).toBeGreaterThanOrEqual(19);
  expect(tests.world.quickly - checks).toBeLessThanOrEqual(21);
  expect(await historyLength(id)).toBe(events);
  expect(new Set(gaps().slice(1))).toEqual(new Set([5]));
  expect(timeline().at(-1)).toMatchObject({ status: 'AUTHENTICATED', check: { method: 'request' } });
});

it('restarts after a month without skipping a check', async () => {
  const id = await watched();
  await tests.client.configure(id, { health_check_interval: 86_400 });
  const checks = tests.world.quickly;
  await tests.env.sleep('75 days');
  expect(tests.world.quickly).toBeGreaterThanOrEqual(checks + 74);
  expect(new Set(gaps().slice(checks + 1))).toEqual(new Set([24 * 60]));
  expect(tests.world.checksBegun).toBe(1);
});

it('yields to a manual check and a browser check, and continues', async () => {
  const id = await watchedSession(tests);
  const { world } = tests;
  expect(world.checksBegun).toBe(2);
  expect(world.rows.get(id)?.status).toBe('AUTHENTICATED');
  expect(Math.max(...gaps())).toBeLessThanOrEqual(6);
  expect(timeline().map(({ error_code: code }) => code ?? null)).toContain('network_error');
  expect(timeline().at(-1)).toMatchObject({ check: { method: 'request' } });
});

it('answers a manual check with its own result', async () => {
  const id = await watched();
  const before = tests.world.quickly;
  const checked = await tests.client.check(id);
  expect(tests.world.quickly).toBe(before + 1);
  expect(checked?.document.last_auth_check_at).toBe(timeline().at(-1)?.timestamp);
  await until(tests, id, ({ revision }) => revision >= (checked?.document.revision ?? Infinity));
});

it('applies another interval at once', async () => {
  const id = await watched();
  const { revision } = await tests.client.configure(id, { health_check_interval: 86_400 });
  // The row is as new as the caller's response, and no check was reverted.
  expect((await until(tests, id, (row) => row.revision >= revision)).settings.health_check_interval).toBe(86_400);
  const checks = tests.world.checks;
  await tests.env.sleep('2 hours');
  expect(tests.world.checks).toBe(checks);
  await tests.client.configure(id, { health_check_interval: 300 });
  await tests.env.sleep('17 minutes');
  expect(tests.world.checks).toBeGreaterThanOrEqual(checks + 2);
});

it('keeps its times when an unrelated setting changes', async () => {
  const id = await watched();
  for (const auto_reauth of [false, true, false]) {
    await tests.client.configure(id, { auto_reauth });
    await tests.env.sleep('7 minutes');
  }
  expect(new Set(gaps().slice(1))).toEqual(new Set([5]));
  expect(tests.world.rows.get(id)).toMatchObject({ settings: { auto_reauth: false } });
});

it('yields to a login and continues after it', async () => {
  const id = await watched();
  await tests.client.login(id);
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  const checks = tests.world.checks;
  await tests.env.sleep('17 minutes');
  expect(tests.world.checks).toBeGreaterThanOrEqual(checks + 2);
});

it('notices a changed credential', async () => {
  const id = await watched();
  tests.world.credential = { ...STORED, version: 2, valueKeys: ['username'] };
  await tests.client.credentialChanged(id);
  await until(tests, id, ({ can_reauth: canReauth }) => !canReauth);
  const checks = tests.world.quickly;
  await tests.env.sleep('12 minutes');
  expect(tests.world.quickly).toBeGreaterThanOrEqual(checks + 2);
});

it('notices a credential that changed without notice', async () => {
  const id = await watched();
  tests.world.credential = { ...STORED, version: 2, valueKeys: ['username'] };
  await tests.env.sleep('12 minutes');
  expect(tests.world.rows.get(id)).toMatchObject({ status: 'AUTHENTICATED', can_reauth: false });
  expect(tests.world.checksBegun).toBe(1);
});

it('ends with its connection', async () => {
  const id = await watched();
  const { checks } = tests.world;
  await tests.client.remove(id);
  await tests.env.sleep('30 minutes');
  expect(tests.world.checks).toBe(checks);
  expect(tests.world.rows.size).toBe(0);
});

it('leads to a login when the session has expired', async () => {
  const id = await watched();
  const { world } = tests;
  world.health = [
    { outcome: 'expired', errorCode: 'session_expired', credential: null },
    { outcome: 'authenticated', errorCode: null, credential: null },
  ];
  await tests.env.sleep('6 minutes');
  const again = await until(tests, id, (row) => row.flow?.flow_type === 'REAUTH' && ended(row));
  expect(again).toMatchObject({ status: 'AUTHENTICATED', flow: { flow_status: 'SUCCESS' } });
});

it('loses no check while the store is unavailable', async () => {
  const id = await watched();
  const { world } = tests;
  const before = world.writes;
  world.storeFault = ApplicationFailure.create({ type: 'service_unavailable', message: 'away' });
  const back = async (): Promise<void> => {
    await until(tests, id, () => world.writes > before);
    world.storeFault = null;
  };
  await Promise.all([tests.env.sleep('12 minutes'), back()]);
  await until(tests, id, () => timeline().length === world.checks);
});

it('waits for the running check when another request arrives', async () => {
  const id = await watched();
  const { world } = tests;
  const recordConnection = world.records.recordConnection.bind(world.records);
  let letGo = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const written = vi.spyOn(world.records, 'recordConnection').mockImplementationOnce(async (record) => {
    await held;
    await recordConnection(record);
  });
  const before = world.quickly;
  const slept = tests.env.sleep('6 minutes');
  await until(tests, id, () => written.mock.calls.length > 0);
  const configured = await tests.client.configure(id, { auto_reauth: false });
  const handle = tests.env.client.workflow.getHandle(workflowIdOf(id));
  const isCancelled = async (): Promise<boolean> => {
    const { events } = await handle.fetchHistory();
    const types: number[] = (events ?? []).map(({ eventType }) => eventType ?? 0);
    return types.includes(EVENT_TYPE_CANCEL_REQUESTED);
  };
  await expect.poll(isCancelled).toBe(true);
  letGo();
  await slept;
  const row = await until(tests, id, ({ revision }) => revision >= configured.revision);
  expect(row.settings.auto_reauth).toBe(false);
  await tests.env.sleep('12 minutes');
  expect(world.quickly).toBeGreaterThanOrEqual(before + 3);
  expect(new Set(gaps().slice(1))).toEqual(new Set([5]));
});

it('shows a check once if its row was written but the store did not confirm it', async () => {
  const id = await watched();
  const { world } = tests;
  const recordConnection = world.records.recordConnection.bind(world.records);
  const written = vi.spyOn(world.records, 'recordConnection').mockImplementationOnce(async (record) => {
    await recordConnection(record);
    throw ApplicationFailure.create({ type: 'service_unavailable', message: 'away' });
  });
  await tests.env.sleep('12 minutes');
  expect(written).toHaveBeenCalled();
  await until(tests, id, () => timeline().length === world.checks);
  expect(new Set(gaps().slice(1))).toEqual(new Set([5]));
});
