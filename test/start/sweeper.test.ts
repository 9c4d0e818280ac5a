import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startSweeper } from '../../start/sweeper.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('sweeps at once and every minute, also after a failure, until it is stopped', async () => {
  const sweep = vi.fn<() => Promise<number>>().mockRejectedValueOnce(new Error('away')).mockResolvedValue(1);
  const sweeper = startSweeper({ sweep });
  expect(sweep).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweep).toHaveBeenCalledTimes(3);
  sweeper.stop();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sweep).toHaveBeenCalledTimes(3);
});
