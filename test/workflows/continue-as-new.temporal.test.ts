import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import { phaseOf } from '../../contract/check-times.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByChoice, STORED, submitAll, until, waits } from './scenarios.ts';
import { choice, CODE_PAGE, INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

let tests: WorkflowTests;

beforeAll(async () => {
  tests = await startWorkflowTests('whole');
});

afterAll(async () => {
  await tests.close();
});

beforeEach(async () => {
  await tests.removeAll();
  tests.reset();
});

const runOf = async (id: string): Promise<string> =>
  (await tests.env.client.workflow.getHandle(workflowIdOf(id)).describe()).runId;
const timeline = () => [...tests.world.timeline.values()];

it('loses no submission and no timeline event when it continues as new at every point of a login', async () => {
  const id = await tests.createRestless();
  const first = await runOf(id);
  tests.world.answers = [CODE_PAGE, INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, (document) => document.flow?.interaction?.fields[0]?.type === 'code');
  const inFlow = await runOf(id);
  expect(inFlow).not.toBe(first);
  // The same submission again, after the run that accepted it: it is known and ignored.
  const flow = tests.world.rows.get(id)?.flow;
  await tests.client.submit(id, {
    submissionId: 'sub_1',
    interactionId: flow?.interaction?.interaction_id ?? '',
    fieldIds: [],
    selectedChoiceId: null,
  });
  await submitAll(tests, id, 'sub_2');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_1', 'sub_2']);
  await until(tests, id, () => timeline().some(({ status }) => status === 'SUCCESS'));
  expect(timeline()).toEqual([expect.objectContaining({ type: 'login', status: 'SUCCESS', step: 'COMPLETED' })]);
  expect(await runOf(id)).not.toBe(inFlow);
});

it('loses no choice', async () => {
  const id = await loginByChoice(tests, tests.createRestless());
  expect(tests.world.rows.get(id)).toMatchObject({ status: 'AUTHENTICATED', flow: { flow_status: 'SUCCESS' } });
  expect(tests.world.entered.map(({ answer }) => answer.choice?.label)).toEqual(['Ben']);
  await until(tests, id, () => timeline().some(({ status }) => status === 'SUCCESS'));
  expect(timeline()).toHaveLength(1);
});

it('keeps waiting for an action elsewhere, and accepts another choice meanwhile', async () => {
  const id = await tests.createRestless();
  const push = page('external_action', { choices: [choice('mfa_method', 'Text me', { mfa_type: 'sms' })] });
  tests.world.discovered = [push];
  tests.world.shown = push;
  tests.world.answers = [push, INSIDE];
  await tests.client.login(id);
  const paused = ({ flow }: ConnectionDocument) =>
    flow?.flow_step === 'AWAITING_EXTERNAL_ACTION' && flow.interaction !== null;
  const { flow } = await until(tests, id, paused);
  const run = await runOf(id);
  // The page is polled across the runs that each change of settings starts.
  await tests.client.configure(id, { auto_reauth: false });
  await expect.poll(() => runOf(id)).not.toBe(run);
  await tests.client.submit(id, {
    submissionId: null,
    interactionId: flow?.interaction?.interaction_id ?? '',
    fieldIds: [],
    selectedChoiceId: flow?.interaction?.choices[0]?.id ?? '',
  });
  const first = flow?.interaction?.interaction_id;
  await until(tests, id, (now) => paused(now) && now.flow?.interaction?.interaction_id !== first);
  tests.world.shown = INSIDE;
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ answer }) => answer.choice?.label)).toEqual(['Text me']);
});

it('removes the connection during a flow, and reports how the flow ended', async () => {
  const id = await tests.createRestless();
  await tests.client.login(id);
  const { flow } = await until(tests, id, waits);
  await tests.client.configure(id, { auto_reauth: false });
  await tests.client.remove(id);
  expect(tests.world.rows.has(id)).toBe(false);
  expect(timeline()).toEqual([expect.objectContaining({ type: 'login', status: 'CANCELED' })]);
  const child = tests.env.client.workflow.getHandle(flow?.flow_id ?? '');
  await expect.poll(async () => (await child.describe()).status.name).toBe('COMPLETED');
  expect(tests.world.closed).toEqual(['brw_1']);
  await expect(tests.client.login(id)).rejects.toMatchObject({ code: 'not_found' });
});

it('checks and accepts settings during a flow, and cancels it when canceled itself', async () => {
  const id = await tests.createRestless();
  await tests.client.login(id);
  await until(tests, id, waits);
  const run = await runOf(id);
  tests.world.health = [{ outcome: 'inconclusive', errorCode: 'network_error', credential: null }];
  await tests.client.check(id);
  await tests.client.configure(id, { health_check_interval: 7200 });
  await tests.client.check(id);
  await expect.poll(() => runOf(id)).not.toBe(run);
  await until(tests, id, ({ settings }) => settings.health_check_interval === 7200);
  expect(tests.world.rows.get(id)?.flow?.flow_step).toBe('AWAITING_INPUT');
  await tests.env.client.workflow.getHandle(workflowIdOf(id)).cancel();
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('CANCELED');
  await until(tests, id, () => timeline().length === 3);
  expect(timeline().map(({ type, status }) => [type, status])).toEqual([
    ['login', 'CANCELED'],
    ['health_check', 'NEEDS_AUTH'],
    ['health_check', 'NEEDS_AUTH'],
  ]);
  expect(tests.world.checks).toBe(2);
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_after');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
});

it.each([false, true])('keeps the health timer across runs, and a watch: %s', async (learns) => {
  tests.world.learns = learns;
  const id = await tests.createRestless({ health_check_interval: 2 });
  tests.world.discovered = [INSIDE];
  await tests.client.login(id);
  await until(tests, id, ended);
  // Unrelated settings restart a run all the time, which must not delay a check.
  for (let i = 0; tests.world.checks < 3; i += 1) await tests.client.configure(id, { save_credentials: i % 2 === 0 });
  const checks = () => timeline().filter(({ type }) => type === 'health_check');
  await until(tests, id, () => checks().length >= 3);
  // Nor advance it: each interval starts at the connection's own second.
  const phaseMs = phaseOf(tests.world.slots.indexOf(`2 ${id}`), 2) * 1000;
  const turns = checks().map(({ timestamp }) => Math.floor((Date.parse(timestamp) - phaseMs) / 2000));
  expect(new Set(turns).size).toBe(turns.length);
});

it('accepts updates that arrive between two runs', async () => {
  const id = await tests.createRestless();
  for (let i = 0; i < 10; i += 1) {
    await Promise.all([
      tests.client.configure(id, { save_credentials: i % 2 === 0 }),
      tests.client.configure(id, { auto_reauth: i % 2 === 0 }),
    ]);
    const wanted = i % 2 === 0;
    await until(
      tests,
      id,
      ({ settings: { save_credentials, auto_reauth } }) => save_credentials === wanted && auto_reauth === wanted,
    );
  }
});

it('finishes a re-authentication started in an earlier run', async () => {
  tests.world.credential = STORED;
  const id = await tests.createRestless({ credential: { name: 'saved' } });
  await tests.client.login(id);
  await until(tests, id, ended);
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  await tests.client.check(id);
  const done = await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
  expect(done).toMatchObject({ status: 'AUTHENTICATED', flow: { flow_status: 'SUCCESS' } });
});

it('starts a new run after each flow by itself', async () => {
  const id = await tests.create();
  const first = await runOf(id);
  tests.world.discovered = [LOGIN_PAGE];
  await tests.client.login(id);
  await until(tests, id, waits);
  expect(await runOf(id)).toBe(first);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, ended);
  await until(tests, id, () => tests.world.rows.get(id)?.flow?.flow_status === 'SUCCESS');
  await tests.client.configure(id, { auto_reauth: false });
  await expect.poll(() => runOf(id)).not.toBe(first);
});
