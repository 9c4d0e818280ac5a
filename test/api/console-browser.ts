import type { LightMyRequestResponse } from 'fastify';
import { makeSignInCode } from '../../store/administrator.ts';
import type { Role } from '../../contract/people.ts';
import type { ServiceFixture } from './service-fixture.ts';

/** What a browser of the tests sends: the headers of a page of ours, and the cookie that it was given. */
export interface ConsoleBrowser {
  send: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: object,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>;
  cookie: () => string;
}

/** The headers that a script of our own page sends by itself. */
export const OWN_PAGE = { origin: 'http://holdfast.test:8080', 'x-holdfast-page': '1' };

let browsers = 0;

/** A browser in which nobody is signed in, at an address of its own. */
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

/** A browser in which a new member of the organization is signed in by a link. */
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
