import { expect, it } from 'vitest';
import { createWatchEvents } from '../../browser/files/watch-events.ts';

const event = (name: string) => ({ type: 'WRITE' as const, path: `/${name}`, name });

it('buffers the latest thousand events, and reports how many were lost', async () => {
  const events = createWatchEvents();
  for (let index = 0; index < 1500; index++) events.push(event(String(index)));
  events.end('over');
  const read: unknown[] = [];
  for await (const one of events.read(new AbortController().signal)) read.push(one);
  expect(read).toHaveLength(1002);
  expect(read.slice(0, 2)).toEqual([{ comment: '500 events were not read in time' }, event('500')]);
  expect(read.at(-1)).toEqual({ comment: 'over' });
});

it('has one reader, which a new one replaces and a signal ends', async () => {
  const events = createWatchEvents();
  const gone = new AbortController();
  const [first, second] = [events.read(gone.signal), events.read(gone.signal)];
  const waiting = first.next();
  const next = second.next();
  expect(await waiting).toEqual({ done: true, value: undefined });
  events.push(event('a'));
  expect(await next).toEqual({ done: false, value: event('a') });
  const last = second.next();
  gone.abort();
  expect(await last).toEqual({ done: true, value: undefined });
});
