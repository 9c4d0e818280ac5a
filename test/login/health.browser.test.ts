import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBrowserService } from '../../browser-client/service.ts';
import type { LoginDeps } from '../../activities/login/deps.ts';
import { checkHealth } from '../../activities/login/health.ts';
import { createPages } from '../../activities/login/pages.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { createStore } from '../../store/store.ts';
import { API_KEY, startService, startSite, type Pages } from '../browser/service-under-test.ts';
import { MASTER_KEY, SCOPE, startDatabase } from '../store/databases.ts';

const FORM = '<form><label>Password <input type="password" name="password"></label><button>Log in</button></form>';
const OPENER = `<!doctype html><title>Registry</title><p>Packages for everybody.</p><button onclick="d.hidden = false">Login</button>
  <div id="d" role="dialog" hidden><form><input name="user" placeholder="User name"><input type="password" name="p" placeholder="Password"><button>Login</button></form></div>`;
const INSIDE = '<!doctype html><title>Registry</title><p>Packages for everybody.</p><p>Hello, ann</p>';

let loggedIn = true;
/** What everybody sees, and a login page that leads those on who are known: a Jupyter server is like that. */
const SITE: Pages = {
  '/': '<!doctype html><title>Server</title><p>A server is running here.</p>',
  '/enter': (_request, response) => {
    if (loggedIn) response.writeHead(302, { location: '/' }).end();
    else response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Login</title>${FORM}`);
  },
  '/registry': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(loggedIn ? INSIDE : OPENER);
  },
  '/account': (request, response) => {
    if (request.headers.cookie?.includes('sid=ann') === true)
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Security</title><p>Tokens: 3</p>');
    else response.writeHead(302, { location: '/form' }).end();
  },
  '/console': (request, response) => {
    if (request.headers.cookie?.includes('sid=ann') !== true) {
      response.writeHead(302, { location: '/form' }).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Console</title><nav><button>Account security</button>
      <ul hidden><li><a href="/account-security/signing-in">Signing in</a></li></ul></nav><h1>Personal info</h1>
      <form><label>First name <input name="first" value="Ada"></label><label>Last name <input name="last" value="A"></label>
      <button>Save</button></form>`);
  },
  '/account-security/signing-in':
    '<!doctype html><title>Passkeys</title><h1>Passkey</h1><p>You have no passkey yet.</p>',
  '/slow': (request, response) => {
    const wait = request.headers.cookie === undefined ? 0 : 3000;
    const lead = '<p>Welcome to the box. '.padEnd(230, 'It keeps what you give it. ');
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Box</title>${lead}
      <script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '${FORM}'), ${wait})</script>`);
  },
  '/form': `<!doctype html><title>Login</title>${FORM}`,
};

const closing: (() => unknown)[] = [];
let deps: LoginDeps;
let origin: string;
beforeAll(async () => {
  const site = await startSite(SITE);
  const database = await startDatabase();
  const store = createStore({ connection: database.connection, masterKey: MASTER_KEY });
  const running = await startService();
  const cookie = { name: 'sid', value: 'ann', domain: 'localhost', path: '/' };
  running.profiles.create('ann', {
    cookies: [{ ...cookie, httpOnly: true, secure: false, sameSite: 'Lax' }],
    origins: [],
  });
  const service = createBrowserService({ baseUrl: running.handle.url, apiKey: API_KEY });
  const pages = createPages(service);
  const egress = createEgressPolicy(`localhost:${site.port}`);
  const providers = store.credentialProviders;
  deps = { store, service, pages, egress, externalCredentials: createExternalCredentials({ providers, egress }) };
  origin = site.origin;
  closing.push(
    () => {
      site.close();
    },
    () => database.stop(),
    () => store.close(),
    () => running.stop(),
    () => service.close(),
    () => pages.close(),
  );
});
afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

async function check(where: { postLoginUrl: string; loginPageUrl?: string }): Promise<string> {
  const target = {
    ...SCOPE,
    ...where,
    connectionId: 'conn_x',
    domain: new URL(origin).host,
    profileName: 'ann',
    loginUrl: null,
    allowedDomains: [],
    browser: null,
    credentialName: null,
  };
  return (await checkHealth(deps, target, randomUUID(), new AbortController().signal)).outcome;
}

it('asks the page that asked for the last login, where the landing page looks the same to everybody', async () => {
  loggedIn = true;
  expect(await check({ postLoginUrl: `${origin}/`, loginPageUrl: `${origin}/enter` })).toBe('authenticated');
  loggedIn = false;
  expect(await check({ postLoginUrl: `${origin}/` })).toBe('inconclusive');
  expect(await check({ postLoginUrl: `${origin}/`, loginPageUrl: `${origin}/enter` })).toBe('expired');
});

it('presses a sign-in button that opens the form on the page itself', async () => {
  loggedIn = false;
  expect(await check({ postLoginUrl: `${origin}/registry` })).toBe('expired');
  loggedIn = true;
  expect(await check({ postLoginUrl: `${origin}/registry` })).toBe('inconclusive');
});

it('looks as a stranger does, where the login page shows its form to those who are logged in, too', async () => {
  expect(await check({ postLoginUrl: `${origin}/account`, loginPageUrl: `${origin}/form` })).toBe('authenticated');
});

it('follows no link of an account area that explains how one signs in', async () => {
  expect(await check({ postLoginUrl: `${origin}/console` })).toBe('authenticated');
});

it('takes no page for the inside whose form was only slow to come', async () => {
  expect(await check({ postLoginUrl: `${origin}/slow` })).toBe('expired');
});
