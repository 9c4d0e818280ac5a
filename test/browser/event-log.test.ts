import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEndedLogs, createEventLog, pageOfEvents } from '../../browser/telemetry/event-log.ts';
import type { PageRequest } from '../../browser/telemetry/event-log.ts';

const page = (request: Partial<PageRequest>): PageRequest => ({
  since: undefined,
  until: undefined,
  categories: null,
  types: null,
  order: 'asc',
  limit: 3,
  offset: undefined,
  ...request,
});

describe('the event log', () => {
  it('limits events and memory, and its numbers reveal dropped events', () => {
    const log = createEventLog({ events: 5000, bytes: 100_000 });
    for (let index = 0; index < 20_000; index += 1) log.append(index, 'control', 'a', 'x'.repeat(index % 300));
    expect(log.bytes()).toBeLessThanOrEqual(100_000);
    expect(log.lastSeq()).toBe(20_000);
    const kept = log.all();
    expect(kept.at(-1)?.seq).toBe(20_000);
    expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => (kept[0]?.seq ?? 0) + index));
    expect(log.after(0, 1_000_000)).toEqual(kept);
  });

  it('keeps the newest event even if it alone is too large', () => {
    const log = createEventLog({ events: 10, bytes: 1000 });
    log.append(1, 'page', 'a', 'small');
    log.append(2, 'page', 'a', 'y'.repeat(10_000));
    expect(log.all().map(({ seq }) => seq)).toEqual([2]);
    log.append(3, 'page', 'a', 'small');
    expect(log.all().map(({ seq }) => seq)).toEqual([3]);
  });

  it('returns events after any position, in batches', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.integer({ min: 1, max: 20 }), fc.nat(70), fc.nat(200), (count, events, seq, size) => {
        const log = createEventLog({ events, bytes: 1_000_000 });
        for (let index = 1; index <= count; index += 1) log.append(index, 'page', 'a', 'x'.repeat(10));
        const found = log.after(seq, size);
        const expected = log.all().filter((event) => event.seq > seq);
        expect(found).toEqual(expected.slice(0, found.length));
        expect(found.length).toBe(Math.min(expected.length, Math.max(1, Math.floor(size / 10))));
      }),
    );
  });

  it('notifies listeners of its end, and accepts no event after it', () => {
    const log = createEventLog();
    let heard = 0;
    const stop = log.onChange(() => (heard += 1));
    log.append(1, 'system', 'a', '{}');
    log.end();
    log.append(2, 'system', 'a', '{}');
    expect([heard, log.lastSeq(), log.hasEnded()]).toEqual([2, 1, true]);
    stop();
    log.end();
    expect(heard).toBe(2);
  });

  it('drops events by age in small steps, for running and ended sessions', () => {
    const running = createEventLog();
    for (let ts = 1; ts <= 2500; ts += 1) running.append(ts, 'page', 'a', '{}');
    expect([running.forgetBefore(2001), running.all().length]).toEqual([true, 1500]);
    expect([running.forgetBefore(2001), running.all()[0]?.ts]).toEqual([true, 2001]);
    expect([running.forgetBefore(2001), running.all().length, running.lastSeq()]).toEqual([true, 500, 2500]);
    expect(running.after(2499, 100).map(({ seq }) => seq)).toEqual([2500]);

    const ended = createEndedLogs();
    const [old, mixed] = [createEventLog(), createEventLog()];
    old.append(1, 'page', 'a', '{}');
    for (const ts of [1, 5]) mixed.append(ts, 'page', 'a', '{}');
    ended.keep('old', old);
    ended.keep('mixed', mixed);
    ended.forgetBefore(5);
    expect([old, mixed].map((log) => log.all().map(({ ts }) => ts))).toEqual([[], [5]]);
    expect(old.bytes()).toBe(0);
  });

  it('of ended sessions shares a memory limit, which drops the oldest first', () => {
    const kept = createEndedLogs(10_000);
    const logs = Array.from({ length: 20 }, () => {
      const log = createEventLog();
      log.append(1, 'page', 'a', 'x'.repeat(1000));
      return log;
    });
    for (const [index, log] of logs.entries()) kept.keep(String(index), log);
    expect(logs.map((log) => log.all().length)).toEqual([...Array<number>(16).fill(0), 1, 1, 1, 1]);
    expect(logs.every((log) => log.hasEnded())).toBe(true);
  });
});

describe('a page of events', () => {
  const log = createEventLog({ events: 10, bytes: 1_000_000 });
  for (let seq = 1; seq <= 14; seq += 1)
    log.append(seq * 100, seq % 2 === 0 ? 'page' : 'console', seq % 4 === 0 ? 'a' : 'b', '{}');
  const kept = log.all();
  const cut = (request: Partial<PageRequest>): [number[], number | null] => {
    const { events, nextOffset } = pageOfEvents(kept, page(request));
    return [events.map(({ seq }) => seq), nextOffset];
  };

  it('ascends from the oldest, descends from the newest, and continues where the last one ended', () => {
    expect(cut({})).toEqual([[5, 6, 7], 7]);
    expect(cut({ offset: 7 })).toEqual([[8, 9, 10], 10]);
    expect(cut({ offset: 11 })).toEqual([[12, 13, 14], null]);
    expect(cut({ order: 'desc' })).toEqual([[14, 13, 12], 12]);
    expect(cut({ order: 'desc', offset: 7 })).toEqual([[6, 5], null]);
    expect(cut({ offset: 0 })).toEqual([[5, 6, 7], 7]);
    expect(cut({ offset: 99 })).toEqual([[], null]);
  });

  it('starts at since, ends before until, and ignores since if it has an offset', () => {
    expect(cut({ since: 700, until: 900 })).toEqual([[7, 8], null]);
    expect(cut({ since: 900, offset: 5 })).toEqual([[6, 7, 8], 8]);
    expect(cut({ until: 900, offset: 7 })).toEqual([[8], null]);
    expect(cut({ order: 'desc', until: 900 })).toEqual([[8, 7, 6], 6]);
  });

  it('contains the selected categories', () => {
    expect(cut({ categories: new Set(['page']) })).toEqual([[6, 8, 10], 10]);
    expect(cut({ categories: new Set(['page']), offset: 10 })).toEqual([[12, 14], null]);
    expect(cut({ categories: new Set(['network']) })).toEqual([[], null]);
    expect(cut({ types: new Set(['a']) })[0]).toEqual([8, 12]);
    expect(cut({ types: new Set(['b']), categories: new Set(['page']) })[0]).toEqual([6, 10, 14]);
  });

  it('contains every event once across pages, whatever the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.constantFrom('asc' as const, 'desc' as const), (limit, order) => {
        const seen: number[] = [];
        for (let offset: number | null | undefined; offset !== null;) {
          const { events, nextOffset } = pageOfEvents(kept, page({ limit, order, offset }));
          seen.push(...events.map(({ seq }) => seq));
          offset = nextOffset;
        }
        const all = kept.map(({ seq }) => seq);
        expect(seen).toEqual(order === 'asc' ? all : all.toReversed());
      }),
    );
  });
});
