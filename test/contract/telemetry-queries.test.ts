import { describe, expect, it } from 'vitest';
import { TelemetryEventsQuery } from '../../contract/telemetry-queries.ts';

const NOW = 1_700_000_000_000;
const since = (text: string): number | string => {
  const parsed = TelemetryEventsQuery.safeParse({ since: text });
  if (!parsed.success) return parsed.error.issues[0]?.path.join('.') ?? '';
  const moment = parsed.data.since ?? 0;
  return typeof moment === 'number' ? moment : moment(NOW);
};

describe('the query of telemetry events', () => {
  it.each([
    ['2024-01-02T03:04:05Z', Date.UTC(2024, 0, 2, 3, 4, 5)],
    ['2024-01-02T03:04:05.678+02:00', Date.UTC(2024, 0, 2, 1, 4, 5, 678)],
    ['5m', NOW - 300_000],
    ['1h30m', NOW - 5_400_000],
    ['1.5s', NOW - 1500],
    ['250ms', NOW - 250],
    ['2d', NOW - 172_800_000],
    ['yesterday', 'since'],
    ['5', 'since'],
    ['2024-01-02', 'since'],
    ['-5m', 'since'],
    ['', 'since'],
  ])('since %s', (text, expected) => {
    expect(since(text)).toBe(expected);
  });

  it.each([
    [{ category: 'control' }, ['control']],
    [{ category: ['control', 'monitor'] }, ['control', 'monitor']],
    [{ category: 'control,page' }, ['control', 'page']],
    [{ category: 'colour' }, 'category.0'],
    [{ category: '' }, 'category.0'],
    [{ order: 'up' }, 'order'],
    [{ order: 'desc', since: '5m' }, 'since'],
    [{ limit: '0' }, 'limit'],
    [{ limit: '101' }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ offset: '1.5' }, 'offset'],
  ])('%j', (query, expected) => {
    const parsed = TelemetryEventsQuery.safeParse(query);
    expect(parsed.success ? parsed.data.category : parsed.error.issues[0]?.path.join('.')).toEqual(expected);
  });
});
