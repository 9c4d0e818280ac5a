import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cookieKey, mergeStates } from '../../store/profile-state/merge.ts';
import type { ProfileCookie, ProfileState } from '../../store/profile-state/state.ts';

const cookie = (name: string, value: string, more: Partial<ProfileCookie> = {}): ProfileCookie => ({
  name,
  value,
  domain: 'example.com',
  path: '/',
  httpOnly: true,
  secure: true,
  ...more,
});
const state = (cookies: ProfileCookie[], local: Record<string, Record<string, string>> = {}): ProfileState => ({
  cookies,
  origins: Object.entries(local).map(([origin, localStorage]) => ({
    origin,
    localStorage,
    sessionStorage: {},
    indexedDB: [],
  })),
});
const values = (merged: ProfileState): Record<string, string> =>
  Object.fromEntries(merged.cookies.map((each) => [each.name, each.value]));

describe('mergeStates', () => {
  it('keeps what two sessions changed on their own sites', () => {
    const loaded = state([]);
    const first = mergeStates(loaded, state([cookie('a', '1')], { 'https://a.example': { k: '1' } }), state([]));
    const second = mergeStates(loaded, state([cookie('b', '2')], { 'https://b.example': { k: '2' } }), first);
    expect(values(second)).toEqual({ a: '1', b: '2' });
    expect(second.origins.map((origin) => origin.origin).sort()).toEqual(['https://a.example', 'https://b.example']);
  });

  it('removes only what the session removed', () => {
    const loaded = state([cookie('a', '1'), cookie('b', '1')], { 'https://x.example': { p: '1', q: '1' } });
    const now = state([cookie('b', '1')], { 'https://x.example': { q: '1' } });
    const stored = state([cookie('a', '1'), cookie('b', '2'), cookie('c', '3')], {
      'https://x.example': { p: '1', q: '2', r: '3' },
    });
    const merged = mergeStates(loaded, now, stored);
    expect(values(merged)).toEqual({ b: '2', c: '3' });
    expect(merged.origins[0]?.localStorage).toEqual({ q: '2', r: '3' });
  });

  it('does not restore what another session removed meanwhile', () => {
    const loaded = state([cookie('a', '1')]);
    expect(values(mergeStates(loaded, state([cookie('a', '1')]), state([])))).toEqual({});
  });

  it('distinguishes cookies by name, domain, path and partition', () => {
    const partitionKey = { topLevelSite: 'https://top.example', hasCrossSiteAncestor: true };
    const cookies = [
      cookie('n', '1'),
      cookie('n', '2', { domain: '.example.com' }),
      cookie('n', '3', { path: '/app' }),
      cookie('n', '4', { partitionKey }),
      cookie('n', '5', { partitionKey: { ...partitionKey, hasCrossSiteAncestor: false } }),
    ];
    expect(mergeStates(state([]), state(cookies), state([])).cookies).toHaveLength(5);
    expect(new Set(cookies.map(cookieKey)).size).toBe(5);
  });

  it('keeps session cookies and drops expired ones', () => {
    const stored = state([
      cookie('session', '1'),
      cookie('old', '1', { expires: 1000 }),
      cookie('new', '1', { expires: 3000 }),
    ]);
    expect(values(mergeStates(state([]), state([]), stored, 2000))).toEqual({ session: '1', new: '1' });
  });

  it('merges databases as a whole', () => {
    const database = (name: string, version: number) => ({ name, version, stores: [] });
    const origin = (...indexedDB: ReturnType<typeof database>[]): ProfileState => ({
      cookies: [],
      origins: [{ origin: 'https://x.example', localStorage: {}, sessionStorage: {}, indexedDB }],
    });
    const merged = mergeStates(
      origin(database('a', 1), database('b', 1)),
      origin(database('a', 2)),
      origin(database('a', 1), database('b', 1), database('c', 1)),
    );
    expect(merged.origins[0]?.indexedDB.map(({ name, version }) => [name, version])).toEqual([
      ['a', 2],
      ['c', 1],
    ]);
  });
});

const cookies = fc
  .dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), fc.constantFrom('1', '2', '3'))
  .map((pairs) => Object.entries(pairs).map(([name, value]) => cookie(name, value)));
const local = fc.dictionary(
  fc.constantFrom('https://x.example', 'https://y.example'),
  fc.dictionary(fc.constantFrom('k', 'l', '__proto__', 'constructor'), fc.constantFrom('1', '2')),
);
const states = fc.tuple(cookies, local).map(([list, origins]) => state(list, origins));
/** Equal whatever the order of cookies and origins, empty origins left out. */
const plain = (value: ProfileState): unknown => ({
  cookies: values(value),
  origins: value.origins
    .filter(({ localStorage }) => Object.keys(localStorage).length > 0)
    .map(({ origin, localStorage }) => `${origin} ${JSON.stringify(Object.entries(localStorage).sort())}`)
    .sort(),
});

describe('mergeStates, for all states', () => {
  it('changes nothing if the session changed nothing', () => {
    fc.assert(
      fc.property(states, states, (loaded, stored) => {
        expect(plain(mergeStates(loaded, loaded, stored))).toEqual(plain(stored));
      }),
    );
  });
  it('returns the session’s state if no other session saved', () => {
    fc.assert(
      fc.property(states, states, (loaded, now) => {
        expect(plain(mergeStates(loaded, now, loaded))).toEqual(plain(now));
      }),
    );
  });
  it('is idempotent', () => {
    fc.assert(
      fc.property(states, states, states, (loaded, now, stored) => {
        const once = mergeStates(loaded, now, stored);
        expect(plain(mergeStates(loaded, now, once))).toEqual(plain(once));
      }),
    );
  });
  it('does not mutate its inputs', () => {
    fc.assert(
      fc.property(states, states, states, (loaded, now, stored) => {
        const before = JSON.stringify([loaded, now, stored]);
        mergeStates(loaded, now, stored);
        expect(JSON.stringify([loaded, now, stored])).toBe(before);
      }),
    );
  });
});
