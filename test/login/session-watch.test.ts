import { MockActivityEnvironment } from '@temporalio/testing';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { expect, it } from 'vitest';
import { createSessionWatch, type WatchDeps } from '../../activities/login/checks/quick-check.ts';
import type { WatchEnd, WatchInput } from '../../contract/watched-checks.ts';
import { checkNumberAt, nextCheckAtMs } from '../../contract/check-times.ts';
import type { ConnectionRecord } from '../../contract/document.ts';
import { CHECK, DOCUMENT, FACTS, TARGET } from './login-fixtures.ts';

const PLACE = { slot: 5, intervalSeconds: 3600 };
/** A second of the place's own. */
const FIRST_MS = nextCheckAtMs(Date.parse('2026-01-01T00:00:00Z'), PLACE);
const INPUT: WatchInput = {
  target: TARGET,
  credential: FACTS,
  document: DOCUMENT,
  place: PLACE,
  firstNumber: checkNumberAt(FIRST_MS, PLACE),
  watchId: 'aaaa-bbbb',
};

/** A world of one row, written as the store does: a revision that is not newer changes nothing. */
function watched(parts: Partial<WatchDeps> = {}) {
  const written: ConnectionRecord[] = [];
  const world = { asked: 0, written, row: DOCUMENT.revision as number | null };
  const record = (state: ConnectionRecord): Promise<void> => {
    if (world.row !== null && state.document.revision > world.row) {
      world.row = state.document.revision;
      written.push(state);
    }
    return Promise.resolve();
  };
  const watchSession = createSessionWatch({
    ask: () => {
      world.asked += 1;
      return Promise.resolve(CHECK);
    },
    readCredential: () => Promise.resolve({ ...FACTS }),
    record,
    readRevision: () => Promise.resolve(world.row),
    ...parts,
  });
  /** One try that was meant for a time, or the failure it ended with. */
  const tryAt = async (dueMs: number): Promise<WatchEnd | ApplicationFailure> => {
    const environment = new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: dueMs });
    try {
      const ends: WatchEnd[] = [];
      await environment.run(async (input: WatchInput) => void ends.push(await watchSession(input)), INPUT);
      const [end] = ends;
      if (end === undefined) throw new Error('it neither ended nor failed');
      return end;
    } catch (error) {
      if (error instanceof ApplicationFailure) return error;
      throw error;
    }
  };
  return { world, record, tryAt };
}

const delayOf = (end: WatchEnd | ApplicationFailure): number =>
  end instanceof ApplicationFailure && typeof end.nextRetryDelay === 'number' ? end.nextRetryDelay : Number.NaN;

it('records each check with its own revision and id and schedules the next as a benign retry', async () => {
  const { world, tryAt } = watched();
  const first = await tryAt(FIRST_MS + 20);
  expect(first).toMatchObject({ type: 'still_signed_in', category: ApplicationFailureCategory.BENIGN });
  // The try itself took a moment.
  expect(delayOf(first)).toBeGreaterThan(3_600_000 - 20 - 5_000);
  expect(delayOf(first)).toBeLessThanOrEqual(3_600_000 - 20);
  await tryAt(FIRST_MS + 3_600_000 + 700);
  expect(world.written.map(({ document }) => document)).toEqual([
    { ...DOCUMENT, revision: 9, last_auth_check_at: new Date(FIRST_MS + 20).toISOString() },
    { ...DOCUMENT, revision: 10, last_auth_check_at: new Date(FIRST_MS + 3_600_700).toISOString() },
  ]);
  expect(world.written.map(({ timeline }) => timeline.map(({ id, check }) => ({ id, check })))).toEqual([
    [{ id: 'evt_aaaabbbb0', check: CHECK }],
    [{ id: 'evt_aaaabbbb1', check: CHECK }],
  ]);
});

it('records a check once if its worker was killed after asking the site', async () => {
  const killed = watched();
  let isKilled = true;
  const { world, tryAt } = watched({
    record: (state) => (isKilled ? new Promise<never>(() => undefined) : killed.record(state)),
    readRevision: () => Promise.resolve(killed.world.row),
  });
  void tryAt(FIRST_MS);
  while (world.asked === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  isKilled = false;
  await tryAt(FIRST_MS + 11_000);
  expect(killed.world.written).toHaveLength(1);
});

it('neither asks nor records again if the worker was killed after the write', async () => {
  const store = watched();
  const { world, tryAt } = watched({
    record: async (state) => {
      await store.record(state);
      await new Promise<never>(() => undefined);
    },
    readRevision: () => Promise.resolve(store.world.row),
  });
  void tryAt(FIRST_MS);
  while (store.world.written.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const again = await tryAt(FIRST_MS + 11_000);
  expect(again).toMatchObject({ type: 'still_signed_in' });
  expect(delayOf(again)).toBeLessThanOrEqual(3_600_000 - 11_000);
  expect(world.asked).toBe(1);
  expect(store.world.written).toHaveLength(1);
});

it('leaves what it cannot handle to the workflow', async () => {
  const changed = { ...FACTS, version: 2 };
  expect(await watched({ ask: () => Promise.resolve(null) }).tryAt(FIRST_MS)).toEqual({ missed: 'unsure' });
  expect(await watched({ ask: () => Promise.resolve('late') }).tryAt(FIRST_MS)).toEqual({ missed: 'late' });
  const found = { missed: null, checkId: 'aaaa-bbbb-0', check: CHECK };
  const other = watched({ readCredential: () => Promise.resolve(changed) });
  expect(await other.tryAt(FIRST_MS)).toEqual({ ...found, credential: changed });
  expect(other.world.written).toEqual([]);
  const unwritten = watched({ record: () => Promise.reject(new Error('away')) });
  expect(await unwritten.tryAt(FIRST_MS)).toEqual({ ...found, credential: FACTS });
});

it.each([null, 10])('ends if the row was removed or updated by others: %s', async (row) => {
  const { world, tryAt } = watched({ readRevision: () => Promise.resolve(row) });
  expect(await tryAt(FIRST_MS)).toEqual({ missed: 'overtaken' });
  expect(world).toMatchObject({ asked: 0, written: [] });
});
