import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SubmitInput } from '../../workflows/messages.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, until, waits } from './scenarios.ts';

/** The time-skipping server keeps tasks for a stopped worker. */
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

async function askedFor(id: string, submissionId: string): Promise<Omit<SubmitInput, 'connectionId'>> {
  await tests.client.login(id);
  const { flow } = await until(tests, id, waits);
  return {
    submissionId,
    interactionId: flow?.interaction?.interaction_id ?? '',
    fieldIds: ['field_user', 'field_password'],
    selectedChoiceId: null,
  };
}

it('accepts an answer by signal that arrived while no worker was running', async () => {
  const id = await tests.create();
  const answer = await askedFor(id, 'sub_signal');
  await tests.takeOver(() => tests.client.submitBySignal(id, answer));
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_signal']);
});

it('accepts an answer by update during a takeover, once', async () => {
  const id = await tests.create();
  const answer = await askedFor(id, 'sub_update');
  let sent: Promise<unknown> = Promise.resolve();
  await tests.takeOver(() => {
    sent = Promise.all([tests.client.submit(id, answer), tests.client.submit(id, answer)]);
    return Promise.resolve();
  });
  await sent;
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_update']);
});

it('continues a watch, making each check exactly once', async () => {
  const { world } = tests;
  const INTERVAL_MS = 2_000;
  world.learns = true;
  const id = await loginByCredential(tests);
  await tests.client.configure(id, { health_check_interval: INTERVAL_MS / 1000 });
  const checks = () => [...world.timeline.values()].filter(({ type }) => type === 'health_check');
  await until(tests, id, () => world.quickly >= 2);
  await tests.takeOver(() => Promise.resolve());
  const before = world.quickly;
  await until(tests, id, () => world.quickly >= before + 2 && checks().length === world.checks);
  expect(world.checksBegun).toBe(1);
  const turns = checks().map(({ timestamp }) => Math.floor(Date.parse(timestamp) / INTERVAL_MS));
  expect(turns).toEqual([...new Set(turns)].toSorted((a, b) => a - b));
  // Its input also changes between two attempts.
  await tests.client.check(id);
  await until(tests, id, () => checks().length === world.checks);
  const { revision } = await tests.client.configure(id, { save_credentials: false });
  await until(tests, id, (row) => row.revision >= revision && !row.settings.save_credentials);
  const after = world.quickly;
  await until(tests, id, () => world.quickly >= after + 2 && checks().length === world.checks);
  expect(world.checksBegun).toBe(1);
  const revisions = world.states.map(({ revision }) => revision);
  expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
});
