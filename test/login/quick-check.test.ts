import { expect, it } from 'vitest';
import type { QuickCheckInput } from '../../contract/watched-checks.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import type { ConnectionRecord } from '../../contract/document.ts';
import { createQuickCheck, type QuickCheckDeps } from '../../activities/login/checks/quick-check.ts';
import { CHECK, DOCUMENT, FACTS, TARGET } from './login-fixtures.ts';

const INPUT: QuickCheckInput = {
  target: TARGET,
  credential: FACTS,
  document: DOCUMENT,
  event: { id: 'evt_1', type: 'health_check', status: 'AUTHENTICATED', timestamp: '2026-01-01T01:00:00.000Z' },
};

function quickCheck(parts: Partial<QuickCheckDeps> = {}) {
  const records: ConnectionRecord[] = [];
  const activity = createQuickCheck(
    {
      ask: () => Promise.resolve(CHECK),
      readCredential: () => Promise.resolve({ ...FACTS }),
      record: (record) => Promise.resolve(void records.push(record)),
      readRevision: () => Promise.resolve(DOCUMENT.revision),
      ...parts,
    },
    { answerWithinMs: 20, askedAtOnce: 2 },
  );
  return { records, check: () => activity.checkQuickly(INPUT) };
}

it('records the document and how the check was made', async () => {
  const { check, records } = quickCheck();
  expect(await check()).toEqual({ missed: null, check: CHECK, credential: FACTS, recorded: true });
  expect(records).toEqual([{ document: DOCUMENT, timeline: [{ ...INPUT.event, check: CHECK }] }]);
});

it('leaves a changed credential to the workflow', async () => {
  const changed = { ...FACTS, version: 2 };
  const { check, records } = quickCheck({ readCredential: () => Promise.resolve(changed) });
  expect(await check()).toEqual({ missed: null, check: CHECK, credential: changed, recorded: false });
  expect(records).toEqual([]);
});

it('leaves a site without a clear "signed in" to a browser', async () => {
  const { check, records } = quickCheck({ ask: () => Promise.resolve(null) });
  expect(await check()).toEqual({ missed: 'unsure' });
  expect(records).toEqual([]);
});

it('does not wait for slow sites, limits concurrent requests, and continues once they have finished', async () => {
  let isSlow = true;
  const answers: (() => void)[] = [];
  const ask = (): Promise<CheckMethod> =>
    isSlow ? new Promise((resolve) => answers.push(() => resolve(CHECK))) : Promise.resolve(CHECK);
  const { check, records } = quickCheck({ ask });
  expect(await Promise.all([check(), check(), check()])).toEqual([
    { missed: 'late' },
    { missed: 'late' },
    { missed: 'busy' },
  ]);
  expect(answers).toHaveLength(2);
  isSlow = false;
  for (const answer of answers) answer();
  await expect.poll(check).toMatchObject({ missed: null });
  // What came too late is recorded by the check that took its place.
  expect(records).toHaveLength(1);
});
