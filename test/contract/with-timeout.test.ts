import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withTimeout } from '../../contract/with-timeout.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

it('returns a result in time and leaves no timer behind', async () => {
  expect(await withTimeout(Promise.resolve('done'), 1000, 'late')).toBe('done');
  await expect(withTimeout(Promise.reject(new Error('broken')), 1000, 'late')).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});

it('returns the fallback after the timeout, and ignores a later failure', async () => {
  let fail: (error: Error) => void = () => undefined;
  const answer = withTimeout(new Promise<string>((_resolve, reject) => (fail = reject)), 1000, null);
  vi.advanceTimersByTime(1000);
  expect(await answer).toBeNull();
  // An unhandled rejection would end the run.
  fail(new Error('too late'));
  await nextTurn();
});
