import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestCheck } from '../../contract/document.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import type { LoginDeps } from '../../activities/login/deps.ts';
import { checkHealth } from '../../activities/login/checks/check-health.ts';
import { verifyLogin } from '../../activities/login/finish-login.ts';
import { createPages } from '../../activities/login/session/pages.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { readState, type ProfileState } from '../../store/profile-state/state.ts';
import { createStore } from '../../store/store.ts';
import { API_KEY, startService, startSite, type Pages } from '../browser/service-under-test.ts';
import { MASTER_KEY, SCOPE, startDatabase } from '../store/databases.ts';

const FORM = '<form><label>Password <input type="password" name="password"></label><button>Log in</button></form>';
const OPENER = `<!doctype html><title>Registry</title><p>Packages for everybody.</p><button onclick="d.hidden = false">Login</button>
  <div id="d" role="dialog" hidden><form><input name="user" placeholder="User name"><input type="password" name="p" placeholder="Password"><button>Login</button></form></div>`;
const INSIDE = '<!doctype html><title>Registry</title><p>Packages for everybody.</p><p>Hello, ann</p>';

const HOMES = {
  plain: '<!doctype html><title>Server</title><p>A server is running here.</p>',
  asks: '<!doctype html><title>Server</title><p>A server is running here.</p><a href="/form">Sign in</a>',
  inside: '<!doctype html><title>Server</title><header><a href="/logout">Sign out</a></header><p>Hello, ann</p>',
};

let deskOpen = true;
const visits: { agent: string; cookie: string }[] = [];
const waitingForForm: ServerResponse[] = [];
/** What everybody sees, and a login page that leads those on who are known: a Jupyter server is like that. */
const SITE: Pages = {
  '/bureau': (request, response) => {
    if (request.headers.cookie?.includes('sid=ann') === true)
      response.writeHead(200, { 'content-type': 'text/html' }).end(HOMES.inside);
    else response.writeHead(302, { location: '/form' }).end();
  },
  '/desk': (request, response) => {
    visits.push({ agent: request.headers['user-agent'] ?? '', cookie: request.headers.cookie ?? '' });
    if (deskOpen && request.headers.cookie?.includes('sid=ann') === true)
      response
        .writeHead(200, { 'content-type': 'text/html', 'set-cookie': `visit=${String(visits.length)}; Path=/` })
        .end(HOMES.inside);
    else response.writeHead(302, { location: '/form' }).end();
  },
  '/members': (_request, response) => {
    response.writeHead(403, { 'content-type': 'text/html' }).end('<title>Forbidden</title><h1>Forbidden</h1>');
  },
  '/out-of-order': (_request, response) => {
    response.writeHead(503, { 'content-type': 'text/html' }).end('<title>503</title><h1>Service Unavailable</h1>');
  },
  '/enter': (_request, response) => {
    response.writeHead(302, { location: '/' }).end();
  },
  '/registry': INSIDE,
  '/registry-for-strangers': OPENER,
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
  // To who is known the form comes once a stranger was asked to log in: after the first reading, before the second.
  '/slow': (request, response) => {
    const isStranger = request.headers.cookie === undefined;
    if (isStranger) for (const visitor of waitingForForm.splice(0)) visitor.end('data: now\n\n');
    const lead = '<p>Welcome to the box. '.padEnd(230, 'It keeps what you give it. ');
    const form = `document.body.insertAdjacentHTML('beforeend', '${FORM}')`;
    const script = isStranger ? form : `new EventSource('/slow/form').onmessage = () => ${form}`;
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Box</title>${lead}<script>${script}</script>`);
  },
  '/slow/form': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    waitingForForm.push(response);
  },
  '/starting': (request, response) => {
    const wait = request.headers.cookie === undefined ? 0 : 6000;
    const form = `document.body.innerHTML = '${FORM}'`;
    response.writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Home</title><svg width="100" height="100"></svg><p>Loading data</p>
      <script>setTimeout(() => { ${form} }, ${wait})</script>`);
  },
  // The header of a stranger, until the script knows better.
  '/restoring': (request, response) => {
    const known = request.headers.cookie?.includes('sid=ann') === true;
    const wait = known ? 1500 : 3_600_000;
    response.writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>Shop</title><header><a href="/form">Sign in</a></header><p>Welcome to the shop.</p>
      <script>setTimeout(() => { document.body.innerHTML = '${HOMES.inside}' }, ${wait})</script>`);
  },
  // Drawn with what the page still knows; its data is refused.
  '/stale': `<!doctype html><title>Desk</title><header><a href="/logout">Log out</a></header><h1>Orders</h1><div id="w"></div>
    <script>fetch('/orders').then(({ status }) => { if (status === 401) w.innerHTML = '<div role="alertdialog"><h2>Your session has expired</h2>'
      + '<p>To go on, identify yourself once more.</p><button onclick="location.assign(\\'/form\\')">OK</button></div>'; });</script>`,
  '/orders': (_request, response) => {
    response.writeHead(401).end();
  },
  '/warning': `<!doctype html><title>Desk</title><header><a href="/logout">Log out</a></header><h1>Orders</h1>
    <div role="dialog"><h2>Your session is about to expire</h2><p>You will be logged out in 2 minutes.</p><button>Stay</button></div>`,
  '/window': `<!doctype html><title>Club</title><p>A club for everybody.</p><button onclick="window.open('/form', 'login')">Log in</button>`,
  '/form': `<!doctype html><title>Login</title>${FORM}`,
};

const closing: (() => unknown)[] = [];
let deps: LoginDeps;
/** Origins of the site, by what its home page shows. */
const at = { plain: '', asks: '', inside: '' };
beforeAll(async () => {
  const homes = ['plain', 'asks', 'inside'] as const;
  const sites = await Promise.all(homes.map((home) => startSite({ ...SITE, '/': HOMES[home] })));
  for (const [index, home] of homes.entries()) at[home] = sites[index]?.origin ?? '';
  const database = await startDatabase();
  const store = createStore({ connection: database.connection, masterKey: MASTER_KEY });
  const running = await startService();
  const cookie = { name: 'sid', value: 'ann', domain: 'localhost', path: '/' };
  const state: ProfileState = {
    cookies: [{ ...cookie, httpOnly: true, secure: false, sameSite: 'Lax' }],
    origins: [],
  };
  running.profiles.create('ann', state);
  await store.bootstrap({ plan: 'enterprise' });
  const stored = await store.profiles.findOrCreate(SCOPE, 'ann');
  await store.profiles.save(SCOPE.projectId, stored.id, () => state);
  running.profiles.create('nobody', { cookies: [], origins: [] });
  const service = createBrowserService({ baseUrl: running.handle.url, apiKey: API_KEY });
  const pages = createPages(service);
  const egress = createEgressPolicy('localhost');
  const providers = store.credentialProviders;
  deps = { store, service, pages, egress, externalCredentials: createExternalCredentials({ providers, egress }) };
  closing.push(
    () => {
      for (const site of sites) site.close();
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

function targetAt(where: { postLoginUrl: string | null; loginPageUrl?: string }, home: keyof typeof HOMES = 'plain') {
  return {
    ...SCOPE,
    ...where,
    connectionId: 'conn_x',
    domain: new URL(at[home]).host,
    profileName: 'ann',
    loginUrl: null,
    allowedDomains: [],
    browser: null,
    credentialName: null,
  };
}

async function check(landing: string, { asks, home = 'plain' }: { asks?: string; home?: keyof typeof HOMES } = {}) {
  const loginPage = asks === undefined ? {} : { loginPageUrl: `${at[home]}${asks}` };
  const target = targetAt({ postLoginUrl: `${at[home]}${landing}`, ...loginPage }, home);
  return (await checkHealth(deps, target, randomUUID(), new AbortController().signal)).outcome;
}

function prove(landing: string, home: keyof typeof HOMES = 'plain', profileName = 'ann'): Promise<string> {
  const target = { ...targetAt({ postLoginUrl: null }, home), profileName };
  return verifyLogin(deps, target, randomUUID(), `${at[home]}${landing}`, new AbortController().signal);
}

// Most of each look is a wait for what the page may still become: they are made side by side.
it('reads the page of the last login if the landing page looks the same to everyone', async () => {
  const looks = [check('/', { asks: '/enter' }), check('/'), check('/', { asks: '/form' })];
  expect(await Promise.all(looks)).toEqual(['authenticated', 'inconclusive', 'expired']);
});

it('presses a sign-in button that opens the form on the page itself', async () => {
  const looks = [check('/registry-for-strangers'), check('/registry')];
  expect(await Promise.all(looks)).toEqual(['expired', 'inconclusive']);
});

it('presses a sign-in button that opens the form in a popup', async () => {
  expect(await check('/window')).toBe('expired');
});

it('reads the login page if the landing page is forbidden; if both are, the check is inconclusive', async () => {
  const looks = [check('/members', { asks: '/form' }), check('/members', { asks: '/members' })];
  expect(await Promise.all(looks)).toEqual(['expired', 'inconclusive']);
});

it('reads the page anonymously if the login page shows its form to signed-in users too', async () => {
  expect(await check('/account', { asks: '/form' })).toBe('authenticated');
});

it('does not follow a link in an account area that explains signing in', async () => {
  expect(await check('/console')).toBe('authenticated');
});

it('recognizes a dialog that says the session has ended, but not one that warns of it', async () => {
  expect(await Promise.all([check('/stale'), check('/warning')])).toEqual(['expired', 'authenticated']);
});

it('does not take a page with a slow form for signed in', async () => {
  expect(await check('/slow')).toBe('expired');
});

it('verifies a login by reading the landing page in a fresh session on its profile', async () => {
  const looks = [prove('/bureau'), prove('/bureau', 'plain', 'nobody'), prove('/account')];
  expect(await Promise.all(looks)).toEqual(['authenticated', 'expired', 'inconclusive']);
});

it('takes a form at its own URL for a lost login only if the home page asks too', async () => {
  const looks = [prove('/form', 'plain'), prove('/form', 'inside'), prove('/form', 'asks')];
  expect(await Promise.all(looks)).toEqual(['inconclusive', 'authenticated', 'expired']);
});

it('waits for an application to restore the session', async () => {
  const looks = [
    prove('/restoring', 'asks'),
    prove('/restoring', 'asks', 'nobody'),
    check('/restoring', { home: 'asks' }),
  ];
  expect(await Promise.all(looks)).toEqual(['authenticated', 'expired', 'authenticated']);
});

it('does not take an unavailable site for a lost login', async () => {
  const looks = [prove('/out-of-order'), prove('/bureau', 'plain', 'no profile of this name')];
  expect(await Promise.all(looks)).toEqual(['inconclusive', 'inconclusive']);
});

it('does not take an application that is still starting for signed in', async () => {
  expect(await check('/starting')).toBe('expired');
});

describe('a check without a browser', () => {
  const checkAt = (landing: string, requestCheck?: RequestCheck | null) =>
    checkHealth(
      deps,
      { ...targetAt({ postLoginUrl: landing }), ...(requestCheck === undefined ? {} : { requestCheck }) },
      randomUUID(),
      new AbortController().signal,
    );

  it('is learned in a browser, sent as the browser would, and never reports an expired session', async () => {
    const first = await checkAt(`${at.plain}/desk`);
    expect(first).toMatchObject({
      outcome: 'authenticated',
      check: { method: 'browser', status: 200, address: `${at.plain}/desk`, decided_by: 'logged_in' },
    });
    expect(first.requestCheck).toMatchObject({ url: `${at.plain}/desk`, signedOut: { status: 302 } });
    expect(JSON.stringify(first)).not.toMatch(/\bsid\b|Hello/);

    const before = visits.length;
    const second = await checkAt(`${at.plain}/desk`, first.requestCheck);
    expect(second).toMatchObject({
      outcome: 'authenticated',
      check: { method: 'request', status: 200, address: `${at.plain}/desk`, decided_by: 'content' },
    });
    expect(second.browserSessionId).toBeUndefined();
    expect(visits.length).toBe(before + 1);
    expect(new Set(visits.map(({ agent }) => agent)).size).toBe(1);
    // What one answer renews goes with the next request.
    await checkAt(`${at.plain}/desk`, first.requestCheck);
    expect(visits.at(-1)?.cookie.split('; ').sort()).toEqual(['sid=ann', `visit=${String(before + 1)}`]);
    const stored = await deps.store.profiles.load(SCOPE.projectId, { name: 'ann' });
    expect(
      readState(stored?.state)
        .cookies.map(({ name, value }) => `${name}=${value}`)
        .sort(),
    ).toEqual(['sid=ann', `visit=${String(visits.length)}`]);

    deskOpen = false;
    const last = await checkAt(`${at.plain}/desk`, first.requestCheck);
    deskOpen = true;
    expect(last).toMatchObject({ outcome: 'expired', errorCode: 'session_expired', check: { method: 'browser' } });
  });

  it('is left to the browser if everyone gets the same page', async () => {
    const found = await checkAt(`${at.inside}/`);
    expect(found).toMatchObject({ outcome: 'authenticated', requestCheck: null });
    const again = await checkAt(`${at.inside}/`, null);
    expect(again).toMatchObject({ check: { method: 'browser' } });
    expect(again.requestCheck).toBeUndefined();
  });
});
