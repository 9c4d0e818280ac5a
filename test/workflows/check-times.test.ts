import { expect, it } from 'vitest';
import { checkNumberAt, nextCheckAtMs, phaseOf } from '../../contract/check-times.ts';

const NOW = Date.UTC(2026, 0, 1, 12, 34, 56, 789);
const INTERVALS = [1, 2, 300, 1200, 3600, 3601, 21_600, 86_399, 86_400];

it.each(INTERVALS)('gives each second of an interval of %i seconds to one connection', (interval) => {
  for (const first of [0, 7 * interval + 3]) {
    const phases = Array.from({ length: interval }, (_each, index) => phaseOf(first + index, interval));
    expect(new Set(phases).size).toBe(interval);
    expect(Math.min(...phases)).toBe(0);
    expect(phases.every((phase) => Number.isInteger(phase) && phase < interval)).toBe(true);
  }
});

it('has at most 28 of 100,000 hourly checks share a second, and leaves no second empty', () => {
  const counts = new Map<number, number>();
  for (let slot = 0; slot < 100_000; slot += 1) {
    const phase = phaseOf(slot, 3600);
    counts.set(phase, (counts.get(phase) ?? 0) + 1);
  }
  expect(counts.size).toBe(3600);
  expect(Math.max(...counts.values())).toBe(28);
  expect(Math.min(...counts.values())).toBe(27);
});

it('keeps a few connections far apart', () => {
  for (const interval of [300, 3600, 86_400])
    for (let count = 2; count <= 100; count += 1) {
      const phases = Array.from({ length: count }, (_each, slot) => phaseOf(slot, interval)).toSorted((a, b) => a - b);
      const gaps = phases.map((phase, index) => (phases[index + 1] ?? (phases[0] ?? 0) + interval) - phase);
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(Math.floor(interval / count / 5));
    }
});

it.each(INTERVALS.filter((interval) => interval >= 300))(
  'schedules a check 0.1 to 1.1 intervals from now, at the second of its slot, every %i seconds',
  (intervalSeconds) => {
    const interval = intervalSeconds * 1000;
    for (let slot = 0; slot < 1000; slot += 1) {
      const at = nextCheckAtMs(NOW, { slot, intervalSeconds });
      expect(at).toBeGreaterThan(NOW + interval * 0.1);
      expect(at).toBeLessThanOrEqual(NOW + interval * 1.1);
      expect(at % interval).toBe(phaseOf(slot, intervalSeconds) * 1000);
      // However long the check takes, the next is one interval after it started.
      for (const took of [0, 1, interval * 0.89])
        expect(nextCheckAtMs(at + took, { slot, intervalSeconds })).toBe(at + interval);
    }
  },
);

it.each([300, 3600, 86_400])(
  'numbers checks every %i seconds consecutively, however late each is',
  (intervalSeconds) => {
    const place = { slot: 7, intervalSeconds };
    let at = Date.parse('2026-01-01T00:00:00Z');
    for (const lateness of [0, 0.1, 0.45, 0.89, 0]) {
      const number = checkNumberAt(at, place);
      const due = nextCheckAtMs(at, place);
      expect(checkNumberAt(due, place)).toBe(number + 1);
      // A repeated attempt.
      at = due + lateness * intervalSeconds * 1000;
      expect(checkNumberAt(at, place)).toBe(number + 1);
    }
  },
);
