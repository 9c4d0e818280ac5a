import { describe, expect, it } from 'vitest';
import { addConnection, useStore } from './databases.ts';

describe('submissions, handoffs and the typing ledger', () => {
  const context = useStore();

  it('return the first id for a retried submission, regardless of the order of its values', async () => {
    const { store } = context();
    const connectionId = await addConnection(store);
    const seal = (values: Record<string, string>, interactionId = 'int_1') =>
      store.submissions.seal({ connectionId, interactionId, values, expiresAt: new Date(Date.now() + 60_000) });
    const [first, ...retries] = await Promise.all(
      Array.from({ length: 10 }, (_, index) => seal(index % 2 === 0 ? { a: '1', b: '2' } : { b: '2', a: '1' })),
    );
    for (const retry of retries) expect(retry.submissionId).toBe(first?.submissionId);
    expect([first, ...retries].filter((answer) => answer?.duplicate === false)).toHaveLength(1);
    expect((await seal({ a: '1', b: '3' })).duplicate).toBe(false);
    expect((await seal({ a: '1', b: '2' }, 'int_2')).duplicate).toBe(false);
    const isKnown = (a: string) =>
      store.submissions.isKnown({ connectionId, interactionId: 'int_1', values: { a, b: '2' } });
    expect([await isKnown('1'), await isKnown('2')]).toEqual([true, false]);
    const refused = await seal({ a: '4', b: '2' });
    await store.submissions.discard(refused.submissionId);
    expect(await isKnown('4')).toBe(false);
    const id = first?.submissionId ?? '';
    expect(await store.submissions.find(connectionId, 'int_2')).not.toBe(id);
    expect(await store.submissions.find(connectionId, 'int_none')).toBeNull();
    expect(await store.submissions.open(id)).toEqual({
      connectionId,
      interactionId: 'int_1',
      values: { a: '1', b: '2' },
    });
    await store.submissions.destroy(id);
    expect(await store.submissions.open(id)).toBeNull();
    expect(await seal({ a: '1', b: '2' })).toEqual({ submissionId: id, duplicate: true });
    expect(await store.submissions.open(id)).toBeNull();
  });

  it('retain no submission longer than ten minutes', async () => {
    const { store, open } = context();
    const connectionId = await addConnection(store);
    const { submissionId } = await store.submissions.seal({
      connectionId,
      interactionId: 'int_1',
      values: { code: '123456' },
      expiresAt: new Date(Date.now() + 3_600_000),
    });
    const later = new Date(Date.now() + 601_000);
    expect(await store.submissions.open(submissionId)).not.toBeNull();
    expect(await open({ clock: () => later }).submissions.open(submissionId)).toBeNull();
    await store.sweep();
    expect(await store.submissions.open(submissionId)).not.toBeNull();
    await open({ clock: () => later }).sweep();
    expect(await store.submissions.open(submissionId)).toBeNull();
  });

  it('recognize a submission until it is discarded, and seal nothing when queried', async () => {
    const { store } = context();
    const input = { connectionId: await addConnection(store), interactionId: 'int_1', values: { a: '1' } };
    const expiresAt = new Date(Date.now() + 60_000);
    expect(await store.submissions.isKnown(input)).toBe(false);
    const { submissionId } = await store.submissions.seal({ ...input, expiresAt });
    expect(await store.submissions.isKnown(input)).toBe(true);
    expect(await store.submissions.isKnown({ ...input, values: { a: '2' } })).toBe(false);
    await store.submissions.discard(submissionId);
    expect(await store.submissions.isKnown(input)).toBe(false);
    expect((await store.submissions.seal({ ...input, expiresAt })).duplicate).toBe(false);
  });

  it('redeem a handoff code once among 200 concurrent callers', async () => {
    const { store, open } = context();
    const connectionId = await addConnection(store);
    const expiresAt = new Date(Date.now() + 60_000);
    const redeem = (code: number, by = store) =>
      by.handoffs.redeem(Buffer.alloc(32, code), connectionId, 'flow_1', expiresAt);
    const stores = [store, open(), open()];
    const redeemed = await Promise.all(
      Array.from({ length: 200 }, (_, index) => redeem(1, stores[index % stores.length] ?? store)),
    );
    expect(redeemed.filter(Boolean)).toHaveLength(1);
    expect(await redeem(2)).toBe(true);
    expect(await redeem(1)).toBe(false);
  });

  it('let one of many callers type, and move the ledger only forward', async () => {
    const { store } = context();
    const claim = { connectionId: 'conn_l', flowId: 'flow_l', interactionId: 'int_l', submissionId: 'sub_l' };
    const claims = await Promise.all(Array.from({ length: 30 }, () => store.typingLedger.claim(claim)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await store.typingLedger.advance('flow_l', 'int_l', 'pressed')).toBe(true);
    expect(await store.typingLedger.advance('flow_l', 'int_l', 'typed')).toBe(false);
    expect(await store.typingLedger.read('flow_l', 'int_l')).toMatchObject({ ...claim, state: 'pressed' });
    await store.typingLedger.advance('flow_l', 'int_l', 'observed');
    expect(await store.typingLedger.read('flow_l', 'int_l')).toMatchObject({ state: 'observed' });
    expect(await store.typingLedger.read('flow_l', 'int_other')).toBeNull();
  });

  it('release only a claim that has submitted nothing', async () => {
    const { store } = context();
    const entry = (interactionId: string) => ({ connectionId: 'conn_r', flowId: 'flow_r', interactionId });
    await store.typingLedger.claim(entry('typed'));
    await store.typingLedger.advance('flow_r', 'typed', 'typed');
    expect(await store.typingLedger.release('flow_r', 'typed')).toBe(true);
    expect(await store.typingLedger.release('flow_r', 'typed')).toBe(false);
    expect(await store.typingLedger.claim(entry('typed'))).toBe(true);
    await store.typingLedger.advance('flow_r', 'typed', 'pressed');
    expect(await store.typingLedger.release('flow_r', 'typed')).toBe(false);
    expect(await store.typingLedger.claim(entry('typed'))).toBe(false);
    await store.typingLedger.abandon(entry('given up'));
    expect(await store.typingLedger.release('flow_r', 'given up')).toBe(false);
  });

  it('close the ledger to an abandoned worker, and return the state it had reached', async () => {
    const { store } = context();
    const entry = (interactionId: string) => ({ connectionId: 'conn_a', flowId: 'flow_a', interactionId });
    expect(await store.typingLedger.abandon(entry('not begun'))).toBeNull();
    expect(await store.typingLedger.claim(entry('not begun'))).toBe(false);

    await store.typingLedger.claim(entry('begun'));
    expect(await store.typingLedger.abandon(entry('begun'))).toBe('intent');
    expect(await store.typingLedger.advance('flow_a', 'begun', 'typed')).toBe(false);
    expect(await store.typingLedger.advance('flow_a', 'begun', 'pressed')).toBe(false);
    expect(await store.typingLedger.abandon(entry('begun'))).toBe('observed');

    // Whoever comes first: the worker presses, or it is stopped before.
    for (let round = 0; round < 20; round += 1) {
      const raced = entry(`raced ${round}`);
      await store.typingLedger.claim(raced);
      const [pressed, reached] = await Promise.all([
        store.typingLedger.advance('flow_a', raced.interactionId, 'pressed'),
        store.typingLedger.abandon(raced),
      ]);
      expect(reached).toBe(pressed ? 'pressed' : 'intent');
    }
  });
});
