import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, STORED, submitAll, until, waits } from './scenarios.ts';
import { CODE_PAGE, INSIDE, LOGIN_PAGE } from './scripted-world.ts';

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
  // The same submission again, after the run that took it: it is known, and does nothing.
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

it('keeps the health timer across runs', async () => {
  const id = await tests.createRestless({ health_check_interval: 2 });
  tests.world.discovered = [INSIDE];
  await tests.client.login(id);
  await until(tests, id, ended);
  // Settings that have nothing to do with the timer restart a run every moment: a check comes no later for it.
  const before = Date.now();
  for (let i = 0; tests.world.checks < 3; i += 1) await tests.client.configure(id, { save_credentials: i % 2 === 0 });
  expect(Date.now() - before).toBeGreaterThan(3 * 2000 * 0.9);
  await until(tests, id, () => timeline().filter(({ type }) => type === 'health_check').length >= 3);
});

it('takes updates that meet it between two runs', async () => {
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

it('finishes a re-authentication that began in an earlier run', async () => {
  tests.world.credential = STORED;
  const id = await tests.createRestless({ credential: { name: 'saved' } });
  await tests.client.login(id);
  await until(tests, id, ended);
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  await tests.client.check(id);
  const done = await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
  expect(done).toMatchObject({ status: 'AUTHENTICATED', flow: { flow_status: 'SUCCESS' } });
});

it('starts a run of its own after each flow, without being told to', async () => {
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
