import type { Protocol } from 'devtools-protocol';
import type { CdpConnection } from '../cdp/connection.ts';
import { ProfileCookie } from '../../store/profile-state/state.ts';

/** All cookies of a context, including session and partitioned cookies. */
export async function readCookies(cdp: CdpConnection, browserContextId: string | undefined): Promise<ProfileCookie[]> {
  const { cookies } = await cdp.send('Storage.getCookies', browserContextId === undefined ? {} : { browserContextId });
  return cookies.map(({ session, expires, ...cookie }) =>
    // Parsing drops derived properties, such as the size.
    ProfileCookie.parse(session ? cookie : { ...cookie, expires }),
  );
}

/** Sets cookies, skipping invalid ones; returns how many the browser refused. */
export async function writeCookies(
  cdp: CdpConnection,
  browserContextId: string | undefined,
  cookies: ProfileCookie[],
): Promise<number> {
  if (cookies.length === 0) return 0;
  const context = browserContextId === undefined ? {} : { browserContextId };
  const set = (batch: ProfileCookie[]): Promise<boolean> =>
    cdp.send('Storage.setCookies', { cookies: batch.map(toParameter), ...context }).then(
      () => true,
      () => false,
    );
  // Usually one command suffices; it sets all cookies or none.
  if (await set(cookies)) return 0;
  const each = await Promise.all(cookies.map((cookie) => set([cookie])));
  return each.filter((accepted) => !accepted).length;
}

function toParameter(cookie: ProfileCookie): Protocol.Network.CookieParam {
  const { domain, ...rest } = cookie;
  const host = domain.replace(/^\./, '');
  const scheme = cookie.secure || cookie.sourceScheme === 'Secure' ? 'https' : 'http';
  // A URL without a domain sets a host-only cookie.
  const scope = domain.startsWith('.') ? { domain } : { url: `${scheme}://${host}${cookie.path}` };
  // Undefined members are dropped when the command is serialized.
  return { ...rest, ...scope } as Protocol.Network.CookieParam;
}
