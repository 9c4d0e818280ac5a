import type { LightMyRequestResponse } from 'fastify';
import { makeSignInCode } from '../../store/administrator.ts';
import type { Role } from '../../contract/people.ts';
import type { ServiceFixture } from './service-fixture.ts';

/** A test browser, which sends the headers of our own pages and the cookie it received. */
export interface ConsoleBrowser {
  send: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
  cookie: () => string;
}

/** The headers that scripts of our own pages send. */
export const OWN_PAGE = { origin: 'http://holdfast.test:8080', 'x-holdfast-page': '1' };

let browsers = 0;

/** A signed-out browser with its own address. */
export function openConsole({ app }: ServiceFixture): ConsoleBrowser {
  let cookie = '';
  browsers += 1;
  const remoteAddress = `10.0.0.${browsers}`;
  return {
    cookie: () => cookie,
    send: async (method, url, payload, headers = OWN_PAGE) => {
      const response = await app.inject({
        method,
        url,
        remoteAddress,
        headers: { ...headers, ...(cookie === '' ? {} : { cookie }) },
        ...(payload === undefined ? {} : { payload }),
      });
      const [pair = ''] = [response.headers['set-cookie'] ?? ''].flat().map((line) => line.split(';')[0] ?? '');
      if (pair !== '') cookie = pair.endsWith('=') ? '' : pair;
      return response;
    },
  };
}

/** A browser in which a new member of the organization is signed in with a link. */
export async function signedIn(
  fixture: ServiceFixture,
  { email, role, organizationId = 'org_default' }: { email: string; role: Role; organizationId?: string },
): Promise<ConsoleBrowser & { userId: string }> {
  const { store } = fixture;
  const user = await store.users.create({ organizationId, email, name: null });
  await store.memberships.add(organizationId, user.id, role);
  const browser = openConsole(fixture);
  const code = await makeSignInCode(store, organizationId, email);
  const answer = await browser.send('POST', '/session/link', { code });
  if (answer.statusCode !== 200) throw new Error(`Signing in failed: ${answer.body}`);
  return { ...browser, userId: user.id };
}
