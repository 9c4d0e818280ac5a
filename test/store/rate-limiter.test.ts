import { expect, it } from 'vitest';
import { createStore } from '../../store/store.ts';
import { MASTER_KEY, useStore } from './databases.ts';

const context = useStore();
/** A window that does not end while the tests run. */
const LIMIT = { burst: 10, perSecond: 0.01 };

it('counts the calls of all processes together, by name and key', async () => {
  const first = context().open().rateLimiter('calls', LIMIT);
  const second = context().open().rateLimiter('calls', LIMIT);
  const states = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second).take('one')),
  );
  const waits = states.map(({ retryAfterSeconds }) => retryAfterSeconds);
  expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
  expect(
    states
      .map(({ remaining }) => remaining)
      .toSorted((a, b) => b - a)
      .slice(0, 10),
  ).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  for (const wait of waits) expect(wait === 0 || (wait > 900 && wait <= 1000)).toBe(true);
  expect((await second.take('other')).retryAfterSeconds).toBe(0);
  expect((await context().store.rateLimiter('others', LIMIT).take('one')).retryAfterSeconds).toBe(0);
});

it('counts locally while the database is unreachable', async () => {
  const away = createStore({ connection: { socketDir: '/nowhere' }, masterKey: MASTER_KEY });
  const limiter = away.rateLimiter('away', { burst: 2, perSecond: 0.01 });
  expect([await limiter.take('one'), await limiter.take('one')]).toEqual([
    { remaining: 1, retryAfterSeconds: 0 },
    { remaining: 0, retryAfterSeconds: 0 },
  ]);
  expect((await limiter.take('one')).retryAfterSeconds).toBeGreaterThan(0);
  await away.close();
});
