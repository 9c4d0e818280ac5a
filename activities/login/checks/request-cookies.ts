import { Cookie, CookieJar } from 'tough-cookie';
import type { ProfileCookie, ProfileState } from '../../../store/profile-state/state.ts';

/** The profile's cookies for one request. */
export interface RequestCookies {
  /** Value of the `cookie` header; empty if the profile has no cookies for the URL. */
  header: string;
  /** The profile's state after a response with these `set-cookie` headers; the same object if nothing changed. */
  after(setCookies: readonly string[]): ProfileState;
}

/** Partitioned cookies belong to embedded pages: a top-level page does not send them. */
const isPlain = ({ partitionKey }: ProfileCookie): boolean => partitionKey === undefined;

/** Selects the cookies that a browser would send to `url` on a top-level navigation. */
export function cookiesFor(state: ProfileState, url: string): RequestCookies {
  const jar = new CookieJar(null, {
    rejectPublicSuffixes: false,
    allowSpecialUseDomain: true,
    prefixSecurity: 'silent',
    looseMode: true,
  });
  for (const cookie of state.cookies.filter(isPlain)) {
    const host = cookie.domain.replace(/^\./, '');
    const place = `${cookie.secure ? 'https' : 'http'}://${host}${cookie.path}`;
    jar.setCookieSync(toJar(cookie), place, { ignoreError: true });
  }
  const before = cookiesOf(jar, url);
  return {
    header: jar.getCookieStringSync(url),
    after(setCookies) {
      for (const line of setCookies) jar.setCookieSync(line, url, { ignoreError: true });
      const now = cookiesOf(jar, url);
      const changed = [...now]
        .filter(([key, cookie]) => !isUnchanged(before.get(key), cookie))
        .map(([, cookie]) => cookie);
      const gone = new Set([...before.keys()].filter((key) => !now.has(key)));
      if (changed.length === 0 && gone.size === 0) return state;
      const replaced = new Set([...gone, ...changed.map(keyOf)]);
      const kept = state.cookies.filter((cookie) => !isPlain(cookie) || !replaced.has(keyOf(cookie)));
      return { ...state, cookies: [...kept, ...changed] };
    },
  };
}

function toJar({ name, value, domain, path, expires, httpOnly, secure }: ProfileCookie): Cookie {
  return new Cookie({
    key: name,
    value,
    path,
    httpOnly,
    secure,
    // Without a domain it stays host-only.
    ...(domain.startsWith('.') ? { domain: domain.slice(1) } : {}),
    ...(expires === undefined ? {} : { expires: new Date(expires * 1000) }),
  });
}

/** The jar's cookies for the host of `url`, on any path, in the profile's format. */
function cookiesOf(jar: CookieJar, url: string): Map<string, ProfileCookie> {
  const found = jar.getCookiesSync(url, { allPaths: true }).map(toProfile);
  return new Map(found.map((cookie) => [keyOf(cookie), cookie]));
}

function toProfile(cookie: Cookie): ProfileCookie {
  const expiry = cookie.expiryTime();
  const domain = cookie.domain ?? '';
  const sameSite = SAME_SITES[cookie.sameSite?.toLowerCase() ?? ''];
  return {
    name: cookie.key,
    value: cookie.value,
    domain: cookie.hostOnly === true ? domain : `.${domain}`,
    path: cookie.path ?? '/',
    httpOnly: cookie.httpOnly,
    secure: cookie.secure,
    ...(expiry === undefined || !Number.isFinite(expiry) ? {} : { expires: Math.floor(expiry / 1000) }),
    ...(sameSite === undefined ? {} : { sameSite }),
  };
}

const SAME_SITES: Readonly<Record<string, ProfileCookie['sameSite']>> = { strict: 'Strict', lax: 'Lax', none: 'None' };

function keyOf({ name, domain, path }: ProfileCookie): string {
  return JSON.stringify([name, domain, path]);
}

/** Compares what the site sets: value and expiry. What a browser adds to a cookie is not a change. */
function isUnchanged(left: ProfileCookie | undefined, right: ProfileCookie): boolean {
  return left !== undefined && left.value === right.value && left.expires === right.expires;
}
