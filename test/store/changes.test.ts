import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { addConnection, documentOf, SCOPE, useStore } from './databases.ts';

describe('change notifications', () => {
  const context = useStore();

  it('reach a watcher in another process soon, without missing a state', async () => {
    const { store, open } = context();
    const id = await addConnection(store);
    const reader = open();
    const stop = new AbortController();
    const seen: number[] = [];
    const delays: number[] = [];
    let last = 0;
    const watching = (async () => {
      for await (const revision of reader.changes.watch(id, stop.signal)) {
        for (const state of await reader.connections.statesSince(id, last)) {
          seen.push(state.revision);
          delays.push(Date.now() - state.at.getTime());
          last = state.revision;
        }
        if (revision === 40) return;
      }
    })();
    for (let revision = 2; revision <= 40; revision += 1) {
      await store.connections.record({ id, revision, document: documentOf(id, revision), createdAt: new Date() });
      await sleep(revision % 5 === 0 ? 60 : 1);
    }
    await watching;
    expect(seen).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    // A poll takes 50 ms at most; the rest is for a machine that is busy with other tests.
    expect(delays.slice(1).sort((a, b) => a - b)[20]).toBeLessThan(10_000);
  });

  it('end if the connection is removed or missing, or the watcher is stopped', async () => {
    const { store, open } = context();
    const reader = open();
    const drain = async (id: string, signal: AbortSignal, hear?: () => void): Promise<void> => {
      for await (const revision of reader.changes.watch(id, signal)) {
        expect(revision).toBeGreaterThan(0);
        hear?.();
      }
    };
    const never = new AbortController().signal;
    await drain('conn_nowhere', never);
    const id = await addConnection(store);
    let watching = Promise.resolve();
    await new Promise<void>((heard) => {
      watching = drain(id, never, heard);
    });
    await store.connections.remove(SCOPE, id);
    await watching;
    await drain(await addConnection(store), AbortSignal.timeout(100));
    await drain(await addConnection(store), AbortSignal.abort());
  });

  it('serve many concurrent watchers', async () => {
    const { store, open } = context();
    const reader = open();
    const ids = await Promise.all(Array.from({ length: 100 }, () => addConnection(store)));
    const waits = ids.map((id) => reader.connections.waitForRevision(id, 2, 120_000));
    for (const id of ids)
      await store.connections.record({ id, revision: 2, document: documentOf(id, 2), createdAt: new Date() });
    const rows = await Promise.all(waits);
    expect(rows.map((row) => row?.revision)).toEqual(ids.map(() => 2));
  });

  it('wait no longer than the timeout', async () => {
    const { store } = context();
    const id = await addConnection(store);
    const from = Date.now();
    expect(await store.connections.waitForRevision(id, 2, 200)).toBeNull();
    expect(Date.now() - from).toBeLessThan(60_000);
    expect((await store.connections.waitForRevision(id, 1, 200))?.id).toBe(id);
  });
});
