import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { SubmitInput } from '../../workflows/messages.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, until, waits } from './scenarios.ts';

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

it('takes an answer that was accepted in the last moment before the flow gave the person up', async () => {
  const id = await tests.create();
  const answer = await askedFor(id, 'sub_late');
  // Both the end of the wait and the answer are in front of the next worker, the answer first.
  await tests.takeOver(async () => {
    await tests.client.submitBySignal(id, answer);
    await tests.env.sleep('11 minutes');
  });
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
});
