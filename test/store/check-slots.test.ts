import { describe, expect, it } from 'vitest';
import { addConnection, SCOPE, useStore } from './databases.ts';

describe('check slots', () => {
  const context = useStore();

  it('assigns concurrent callers the lowest numbers, distinct and stable', async () => {
    const { store } = context();
    const ids = await Promise.all(Array.from({ length: 12 }, () => addConnection(store)));
    const takeAll = () => Promise.all(ids.map((id) => store.checkSlots.take(id, 3600)));
    const slots = await takeAll();
    expect(slots.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(ids.map((_id, index) => index));
    expect(await takeAll()).toEqual(slots);
    const [first = ''] = ids;
    expect(await Promise.all([first, first].map((id) => store.checkSlots.take(id, 3600)))).toEqual([
      slots[0],
      slots[0],
    ]);
  });

  it('reuses the slot of a connection that was removed or changed its interval', async () => {
    const { store } = context();
    const [a, b, c, d, e] = await Promise.all(Array.from({ length: 5 }, () => addConnection(store)));
    const take = (id = '', interval = 300) => store.checkSlots.take(id, interval);
    expect([await take(a), await take(b), await take(c)]).toEqual([0, 1, 2]);
    expect(await take(b, 1200)).toBe(0);
    await store.connections.remove(SCOPE, a ?? '');
    expect(await take(a)).toBeNull();
    expect([await take(d), await take(e), await take(b)]).toEqual([0, 1, 3]);
    expect(await take(c, 1200)).toBe(0);
  });
});
