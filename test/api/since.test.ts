import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Since } from '../../api/apps/event-stream.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-02T03:04:05Z') }));
afterEach(() => vi.useRealTimers());

it.each([
  ['5m', '2026-01-02T02:59:05.000Z'],
  ['1h30m', '2026-01-02T01:34:05.000Z'],
  ['1.5h', '2026-01-02T01:34:05.000Z'],
  ['1m30s500ms', '2026-01-02T03:02:34.500Z'],
  ['2d', '2025-12-31T03:04:05.000Z'],
  ['2026-01-01', '2026-01-01T00:00:00.000Z'],
  ['2026-01-01T12:30', '2026-01-01T12:30:00.000Z'],
  ['2026-01-01T12:30:15.250', '2026-01-01T12:30:15.250Z'],
  ['2026-01-01T12:30:15+02:00', '2026-01-01T10:30:15.000Z'],
])('takes %s for a time', (text, at) => {
  expect(Since.parse(text)?.toISOString()).toBe(at);
});

it('accepts an empty bound, and rejects malformed times', () => {
  expect([Since.parse(undefined), Since.parse('')]).toEqual([undefined, undefined]);
  for (const text of ['m', '5x', '1h 30m', 'yesterday', '-5m']) expect(Since.safeParse(text).success, text).toBe(false);
});
