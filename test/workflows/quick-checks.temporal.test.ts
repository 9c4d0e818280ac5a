import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { TimelineEvent } from '../../contract/connections.ts';
import { workflowIdOf } from '../../client/identity.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { checkedOnTime, checkedQuickly, loginByCredential, until } from './scenarios.ts';
import { fault } from './scripted-world.ts';

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

const checks = (): TimelineEvent[] => [...tests.world.timeline.values()].filter(({ type }) => type === 'health_check');
const historyLength = async (id: string): Promise<number> =>
  (await tests.env.client.workflow.getHandle(workflowIdOf(id)).describe()).historyLength;

it('costs one workflow task and one local activity, and is on the timeline', async () => {
  const { world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await tests.env.sleep('30 minutes');
  const [checksBefore, eventsBefore] = [world.quickly, await historyLength(id)];
  await tests.env.sleep('90 minutes');
  const made = world.quickly - checksBefore;
  expect(made).toBeGreaterThanOrEqual(15);
  // A timer, its end, a task and the activity's result. One check may be split between two counts.
  expect((await historyLength(id)) - eventsBefore).toBeLessThanOrEqual(6 * (made + 1));
  expect(world.checksBegun).toBe(1);
  expect(checks()).toHaveLength(world.checks);
  expect(checks().at(-1)).toMatchObject({ status: 'AUTHENTICATED', check: { method: 'request', status: 200 } });
  expect(world.rows.get(id)?.last_auth_check_at).toBe(checks().at(-1)?.timestamp);
  // No two states share a revision, and none is written before an older one.
  const revisions = world.states.map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
});

it('notices a removed password, and falls back to a browser after an inconclusive request', async () => {
  const id = await checkedQuickly(tests);
  const { world } = tests;
  expect(checks()).toHaveLength(world.checks);
  expect(checks().map(({ check, error_code: code }) => check?.method ?? code ?? 'browser')).toEqual([
    ...['browser', 'request', 'request', 'network_error', 'request'],
  ]);
  expect(world.rows.get(id)).toMatchObject({ status: 'AUTHENTICATED', can_reauth: false });
});

it('loses no check while the store is unavailable', async () => {
  const { world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await tests.client.check(id);
  world.storeFault = fault('unavailable');
  const before = world.writes;
  const [checked] = await Promise.all([
    tests.client.check(id),
    until(tests, id, () => world.writes > before).then(() => (world.storeFault = null)),
  ]);
  await until(tests, id, ({ revision }) => revision >= (checked?.document.revision ?? Infinity));
  expect(checks()).toHaveLength(2);
  expect(world.rows.get(id)?.last_auth_check_at).toBe(checks().at(-1)?.timestamp);
});

it('shows a check once if its row was written but its worker was lost', async () => {
  const { world } = tests;
  world.learns = true;
  const id = await loginByCredential(tests);
  await tests.client.check(id);
  const recordConnection = world.records.recordConnection.bind(world.records);
  const written = vi.spyOn(world.records, 'recordConnection').mockImplementationOnce(async (record) => {
    await recordConnection(record);
    throw fault('unavailable');
  });
  const checked = await tests.client.check(id);
  expect(written).toHaveBeenCalledOnce();
  await until(tests, id, ({ revision }) => revision >= (checked?.document.revision ?? Infinity));
  expect(checks()).toHaveLength(2);
  expect(world.rows.get(id)?.last_auth_check_at).toBe(checks().at(-1)?.timestamp);
  // The state of the lost write is not repeated under another revision, nor its revision reused.
  const revisions = world.states.map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
});

it('shortens the wait in a later run for a manual check and for another interval', async () => {
  const id = await checkedOnTime(tests);
  const times = checks().map(({ timestamp }) => Date.parse(timestamp));
  const minutes = times.slice(1).map((at, index) => (at - (times[index] ?? at)) / 60_000);
  const long = minutes.findIndex((gap) => gap > 30);
  // One manual check and two by the timer, a manual one, an idle hour, and the timer again.
  expect(long).toBeGreaterThanOrEqual(3);
  expect(minutes.filter((gap) => gap > 30)).toEqual([minutes[long]]);
  expect(minutes[long]).toBeLessThan(60 + 1.1 * 5 + 1);
  expect(minutes.length - long).toBeGreaterThanOrEqual(2);
  expect(tests.world.checksBegun).toBe(1);
  expect(tests.world.rows.get(id)?.last_auth_check_at).toBe(checks().at(-1)?.timestamp);
});
