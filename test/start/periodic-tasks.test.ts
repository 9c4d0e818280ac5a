import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startReviver, startSweeper, startWebhookDispatcher } from '../../start/periodic-tasks.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('sweeps immediately and every minute, even after a failure, until stopped', async () => {
  const sweep = vi.fn<() => Promise<number>>().mockRejectedValueOnce(new Error('away')).mockResolvedValue(1);
  const sweeper = startSweeper({ sweep });
  expect(sweep).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweep).toHaveBeenCalledTimes(3);
  sweeper.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweep).toHaveBeenCalledTimes(3);
});

it('iterates over connections in batches shared by processes, past failures, and starts over', async () => {
  const rows = Array.from({ length: 150 }, (_, index) => `conn_${String(index).padStart(3, '0')}`);
  const idsAfter = (id: string | null, limit: number): Promise<string[]> =>
    Promise.resolve(rows.filter((row) => id === null || row > id).slice(0, limit));
  const revive = vi.fn((id: string) =>
    id === rows[120] && revive.mock.calls.length < 200 ? Promise.reject(new Error('away')) : Promise.resolve(true),
  );
  let turn = 0;
  const take = (): Promise<{ remaining: number; retryAfterSeconds: number }> => {
    turn += 1;
    return Promise.resolve({ remaining: 0, retryAfterSeconds: turn === 2 ? 7 : 0 });
  };
  const walk = startReviver({ connections: { idsAfter }, rateLimiter: () => ({ take }) }, { revive });
  await vi.advanceTimersByTimeAsync(1);
  expect(revive).toHaveBeenCalledTimes(100);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(revive).toHaveBeenCalledTimes(100);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(revive).toHaveBeenLastCalledWith(rows[120]);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(revive).toHaveBeenLastCalledWith(rows[149]);
  expect(revive).toHaveBeenCalledTimes(150);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(revive.mock.calls[150]).toEqual([rows[0]]);
  walk.stop();
});

it('dispatches webhook deliveries once, and retries failed dispatches', async () => {
  const due = [{ webhookId: 'whk_1', lane: 'conn_1' }];
  const claimDueLanes = vi.fn(() => Promise.resolve(due));
  const markDispatched = vi.fn(() => Promise.resolve(void due.splice(0)));
  const wake = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error('away')).mockResolvedValue();
  const dispatcher = startWebhookDispatcher({ claimDueLanes, markDispatched }, { wake });
  await vi.advanceTimersByTimeAsync(3000);
  expect([wake.mock.calls.length, markDispatched.mock.calls.length]).toEqual([2, 1]);
  dispatcher.stop();
});
