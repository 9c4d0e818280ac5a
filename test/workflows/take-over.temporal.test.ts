import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SubmitInput } from '../../workflows/messages.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, until, waits } from './scenarios.ts';

/** The time-skipping server keeps tasks for a worker that has gone. */
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

it('takes an answer by signal that came while no worker was there', async () => {
  const id = await tests.create();
  const answer = await askedFor(id, 'sub_signal');
  await tests.takeOver(() => tests.client.submitBySignal(id, answer));
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_signal']);
});

it('takes an answer by update in the moment of a take-over, and takes it once', async () => {
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
