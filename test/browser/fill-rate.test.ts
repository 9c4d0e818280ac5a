import { expect, it } from 'vitest';
import { createFillRate } from '../../browser/pools/fill-rate.ts';

const MINUTE_MS = 60_000;

it('allows a minute’s worth at once, then one at a time', () => {
  const rate = createFillRate({ size: 8, percent: 25 });
  const now = Date.now();
  expect([rate.take(now), rate.take(now)]).toEqual([0, 0]);
  const wait = rate.take(now);
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(MINUTE_MS / 2);
  expect(rate.take(now + MINUTE_MS / 2)).toBe(0);
  expect(rate.take(now + MINUTE_MS / 2)).toBeGreaterThan(0);
  expect([rate.take(now + 60 * MINUTE_MS), rate.take(now + 60 * MINUTE_MS)]).toEqual([0, 0]);
  expect(rate.take(now + 60 * MINUTE_MS)).toBeGreaterThan(0);
});

it('allows one start for the smallest pool, and none at rate 0', () => {
  const rate = createFillRate({ size: 1, percent: 25 });
  const now = Date.now();
  expect(rate.take(now)).toBe(0);
  expect(rate.take(now)).toBeCloseTo(4 * MINUTE_MS, -3);
  rate.set({ size: 1, percent: 0 });
  expect(rate.take(now)).toBe(Infinity);
  rate.set({ size: 2, percent: 100 });
  expect([rate.take(now), rate.take(now)]).toEqual([0, 0]);
});
