import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, until, waits } from './scenarios.ts';

/** Connections side by side, each of which is answered at another moment around the end of its pause. */
const SIDE_BY_SIDE = 12;

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

async function loggingIn(): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => tests.create({ health_checks: false })));
  await Promise.all(ids.map((id) => tests.client.login(id)));
  await Promise.all(ids.map((id) => until(tests, id, waits)));
  return ids;
}

/** Sleeps until a moment (milliseconds since the epoch), unless it has passed. */
async function sleepUntil(moment: number): Promise<void> {
  const left = moment - (await tests.env.currentTimeMs());
  if (left > 0) await tests.env.sleep(left);
}

/** Answers a connection at a moment, time going on meanwhile; true when the answer was accepted. */
async function answerAt(id: string, moment: number): Promise<boolean> {
  const interaction = tests.world.rows.get(id)?.flow?.interaction;
  await sleepUntil(moment);
  const answered = tests.client
    .submit(id, {
      submissionId: `sub_last_${id}`,
      interactionId: interaction?.interaction_id ?? '',
      fieldIds: interaction?.fields.map((field) => field.id) ?? [],
      selectedChoiceId: null,
    })
    .then(
      () => true,
      () => false,
    );
  await tests.env.sleep(50);
  return await answered;
}

const wasEntered = (id: string): boolean =>
  tests.world.entered.some(({ submissionId }) => submissionId === `sub_last_${id}`);
const events = () => [...tests.world.timeline.values()];
const flowOf = (id: string) => tests.world.rows.get(id)?.flow;

/** Answers each connection around its moment: the first one well before, the last one well after, the others close to it. */
async function answerAround(momentOf: (id: string) => number, ids: string[]): Promise<Map<string, boolean>> {
  const accepted = new Map<string, boolean>();
  const sorted = [...ids].sort((a, b) => momentOf(a) - momentOf(b));
  for (const [index, id] of sorted.entries()) {
    const offset = index === 0 ? -60_000 : index === sorted.length - 1 ? 60_000 : (index - sorted.length / 2) * 20;
    accepted.set(id, await answerAt(id, momentOf(id) + offset));
  }
  return accepted;
}

it('enters an answer that was accepted as its pause ended, and no other', async () => {
  const ids = await loggingIn();
  const began = new Map(
    ids.map((id) => [id, Date.parse(tests.world.timeline.get(`evt_${flowOf(id)?.flow_id ?? ''}`)?.updated_at ?? '')]),
  );
  const accepted = await answerAround((id) => (began.get(id) ?? 0) + 10 * 60_000, ids);
  await tests.env.sleep('1 minute');
  for (const id of ids) {
    const { flow } = await until(tests, id, ended);
    expect(wasEntered(id)).toBe(accepted.get(id));
    expect(flow?.flow_status).toBe(accepted.get(id) === true ? 'SUCCESS' : 'FAILED');
    if (accepted.get(id) === false) expect(flow?.error_code).toBe('awaiting_input_timeout');
  }
  expect(new Set(accepted.values())).toEqual(new Set([true, false]));
  expect(events().filter(({ status }) => status === 'IN_PROGRESS')).toEqual([]);
});
