import { afterAll, beforeAll, expect, it } from 'vitest';
import { FLOW_LIFETIME_MS, PERSON_WAIT_MS } from '../../contract/limits.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, submitAll, until, waits } from './scenarios.ts';
import { CODE_PAGE, INSIDE } from './scripted-world.ts';

/** Concurrent connections, each answered at a different time around the end. */
const SIDE_BY_SIDE = 12;
/** How long before the end of a pause it is answered, so that the flow reaches the next one, in milliseconds. */
const AHEAD_MS = 60_000;

let tests: WorkflowTests;

/** On a full server, in real time: the time-skipping one sometimes stops skipping when an answer meets a timer. */
beforeAll(async () => {
  tests = await startWorkflowTests('whole');
});

afterAll(async () => {
  await tests.close();
});

async function loggingIn(): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => tests.create({ health_checks: false })));
  await Promise.all(ids.map((id) => tests.client.login(id)));
  await allWait(ids);
  return ids;
}

async function allWait(ids: string[]): Promise<void> {
  await Promise.all(ids.map((id) => until(tests, id, (document) => waits(document))));
}

const flowOf = (id: string) => tests.world.rows.get(id)?.flow;
const eventOf = (id: string) => tests.world.timeline.get(`evt_${flowOf(id)?.flow_id ?? ''}`);

async function sleepUntil(moment: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, moment - Date.now()));
}

/** Answers a connection at a given time; true if the answer was accepted. */
async function answerAt(id: string, moment: number): Promise<boolean> {
  const interaction = flowOf(id)?.interaction;
  await sleepUntil(moment);
  return tests.client
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
}

/** Answers around a moment of each: the first well before, the last well after, the others 20 ms apart; then all have ended. */
async function answerAround(momentOf: (id: string) => number, ids: string[]): Promise<Map<string, boolean>> {
  tests.world.answers = [INSIDE];
  const accepted = await Promise.all(
    ids.map(async (id, index) => {
      const offset = index === 0 ? -5_000 : index === ids.length - 1 ? 5_000 : (index - ids.length / 2) * 20;
      return answerAt(id, momentOf(id) + offset);
    }),
  );
  for (const id of ids) await until(tests, id, ended);
  expect(new Set(accepted)).toEqual(new Set([true, false]));
  return new Map(ids.map((id, index) => [id, accepted[index] === true]));
}

const wasEntered = (id: string): boolean =>
  tests.world.entered.some(({ submissionId }) => submissionId === `sub_last_${id}`);

async function answerWithAnotherQuestion(ids: string[], submission: string): Promise<void> {
  tests.world.answers = [CODE_PAGE];
  const before = new Map(ids.map((id) => [id, flowOf(id)?.interaction?.interaction_id]));
  await Promise.all(ids.map((id) => submitAll(tests, id, `${submission}_${id}`)));
  await Promise.all(
    ids.map((id) =>
      until(tests, id, (document) => waits(document) && document.flow?.interaction?.interaction_id !== before.get(id)),
    ),
  );
}

it(
  'enters an answer that was accepted as its pause or its flow ended, and no other',
  async () => {
    const [pausing, expiring] = [await loggingIn(), await loggingIn()];
    const paused = new Map(pausing.map((id) => [id, Date.parse(eventOf(id)?.updated_at ?? '') + PERSON_WAIT_MS]));
    const expires = new Map(expiring.map((id) => [id, Date.parse(flowOf(id)?.flow_expires_at ?? '')]));

    await sleepUntil(Math.min(...paused.values()) - AHEAD_MS);
    await answerWithAnotherQuestion(expiring, 'sub_first');
    for (const [id, accepted] of await answerAround((id) => paused.get(id) ?? 0, pausing)) {
      expect(wasEntered(id)).toBe(accepted);
      expect(flowOf(id)).toMatchObject(
        accepted ? { flow_status: 'SUCCESS' } : { flow_status: 'FAILED', error_code: 'awaiting_input_timeout' },
      );
    }

    await sleepUntil(Math.min(...expires.values()) - 3 * AHEAD_MS);
    await answerWithAnotherQuestion(expiring, 'sub_second');
    for (const [id, accepted] of await answerAround((id) => expires.get(id) ?? 0, expiring)) {
      // The flow may expire while an accepted answer is being entered.
      expect(accepted || !wasEntered(id)).toBe(true);
      expect(accepted ? ['SUCCESS', 'EXPIRED'] : ['EXPIRED']).toContain(flowOf(id)?.flow_status);
    }
    expect([...tests.world.timeline.values()].filter(({ status }) => status === 'IN_PROGRESS')).toEqual([]);
  },
  FLOW_LIFETIME_MS + 4 * AHEAD_MS,
);
