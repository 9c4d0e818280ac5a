import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createReplayStore } from '../../browser/replay/replay-store.ts';

const DAY_MS = 86_400_000;
const STARTED = Date.parse('2026-01-01T00:00:00Z');
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-replays-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('removes expired replays with their videos, except running recordings', async () => {
  const store = createReplayStore(folder, 3 * DAY_MS);
  const add = async (id: string, startedAt: number, isFinished: boolean) => {
    const finishedAt = isFinished ? new Date(startedAt + 1000).toISOString() : null;
    await store.save({ id, sessionId: 's', projectId: 'p', startedAt: new Date(startedAt).toISOString(), finishedAt });
    await writeFile(store.videoPath(id), 'video');
  };
  await add('rep_old', STARTED, true);
  await add('rep_young', STARTED + DAY_MS, true);
  await add('rep_running', STARTED, false);
  await store.removeExpired(STARTED + 3 * DAY_MS);
  expect((await readdir(folder)).toSorted()).toEqual([
    'rep_running.json',
    'rep_running.mp4',
    'rep_young.json',
    'rep_young.mp4',
  ]);
  // Startup finishes recordings that a crash interrupted.
  await store.recover(STARTED + 3 * DAY_MS);
  expect((await readdir(folder)).toSorted()).toEqual(['rep_young.json', 'rep_young.mp4']);
});
