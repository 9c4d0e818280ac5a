import type { ProfileCookie, ProfileDatabase, ProfileOrigin, ProfileState } from './state.ts';

/**
 * Three-way merge of a profile after a session: applies the session's changes (from `loaded` to `now`) to the state `stored`
 * meanwhile. Units are a cookie (name, domain, path, partition), a key of an origin's web storage, and a database of an
 * origin. If both sides changed a unit, the session that saves last wins. Drops cookies that expired before `nowSeconds`.
 * Pure.
 */
export function mergeStates(
  loaded: ProfileState,
  now: ProfileState,
  stored: ProfileState,
  nowSeconds: number = Date.now() / 1000,
): ProfileState {
  const cookies = mergeUnits(
    byKey(loaded.cookies, cookieKey),
    byKey(now.cookies, cookieKey),
    byKey(stored.cookies, cookieKey),
  );
  const origins = mergeOrigins(loaded.origins, now.origins, stored.origins);
  return {
    cookies: [...cookies.values()].filter((cookie) => cookie.expires === undefined || cookie.expires > nowSeconds),
    origins,
  };
}

/** The identity of a cookie. */
export function cookieKey(cookie: ProfileCookie): string {
  const { partitionKey } = cookie;
  const partition = partitionKey === undefined ? null : [partitionKey.topLevelSite, partitionKey.hasCrossSiteAncestor];
  return JSON.stringify([cookie.name, cookie.domain, cookie.path, partition]);
}

function mergeOrigins(loaded: ProfileOrigin[], now: ProfileOrigin[], stored: ProfileOrigin[]): ProfileOrigin[] {
  const name = (origin: ProfileOrigin): string => origin.origin;
  const [before, after, kept] = [byKey(loaded, name), byKey(now, name), byKey(stored, name)];
  const origins = new Set([...kept.keys(), ...after.keys()]);
  return [...origins]
    .map((origin) => mergeOrigin(origin, before.get(origin), after.get(origin), kept.get(origin)))
    .filter((origin) => !isEmpty(origin));
}

function mergeOrigin(
  origin: string,
  loaded: ProfileOrigin | undefined,
  now: ProfileOrigin | undefined,
  stored: ProfileOrigin | undefined,
): ProfileOrigin {
  const pairs = (side: ProfileOrigin | undefined, kind: 'localStorage' | 'sessionStorage'): Map<string, string> =>
    new Map(Object.entries(side?.[kind] ?? {}));
  const merged = (kind: 'localStorage' | 'sessionStorage'): Record<string, string> =>
    Object.fromEntries(mergeUnits(pairs(loaded, kind), pairs(now, kind), pairs(stored, kind)));
  const databases = (side: ProfileOrigin | undefined): Map<string, ProfileDatabase> =>
    byKey(side?.indexedDB ?? [], (database) => database.name);
  return {
    origin,
    localStorage: merged('localStorage'),
    sessionStorage: merged('sessionStorage'),
    indexedDB: [...mergeUnits(databases(loaded), databases(now), databases(stored)).values()],
  };
}

/** Three-way merge of units that are compared as a whole. */
function mergeUnits<T>(loaded: Map<string, T>, now: Map<string, T>, stored: Map<string, T>): Map<string, T> {
  const result = new Map(stored);
  for (const key of new Set([...loaded.keys(), ...now.keys()])) {
    const after = now.get(key);
    if (isSame(loaded.get(key), after)) continue;
    if (after === undefined) result.delete(key);
    else result.set(key, after);
  }
  return result;
}

function byKey<T>(items: T[], key: (item: T) => string): Map<string, T> {
  return new Map(items.map((item) => [key(item), item]));
}

function isSame(left: unknown, right: unknown): boolean {
  return left === right || canonical(left) === canonical(right);
}

/** JSON with sorted keys: the order of properties is irrelevant. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function isEmpty(origin: ProfileOrigin): boolean {
  const { localStorage, sessionStorage, indexedDB } = origin;
  return Object.keys(localStorage).length === 0 && Object.keys(sessionStorage).length === 0 && indexedDB.length === 0;
}
