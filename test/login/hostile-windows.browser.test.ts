import { afterAll, describe, expect } from 'vitest';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import { containing, eventually } from '../browser/service-under-test.ts';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import { OTHER_SITE, FORM, KEY_LOGGER, startLoginOnSite, type LoginOnSite } from './login-on-site.ts';

/** A stranger's window that asks for what the login has just asked for, under the same names. */
const ASKS = `${KEY_LOGGER('window')}<h1>Sign in</h1><form action="/taken" method="post"><label>Code <input name="code" id="code"
  autocomplete="one-time-code"></label><label>Password <input type="password" name="pass" id="pass"></label><button>Sign in</button></form>`;
const CODE_FORM = `<h1>Enter the code</h1><form action="/in" method="post"><label>Code <input name="code" id="code"
  autocomplete="one-time-code"></label><button>Verify</button></form>`;
const OPENS = `<script>document.querySelector('form').addEventListener('submit', () => open('${OTHER_SITE}/asks'));</script>`;

const PAGES: Record<string, string> = {
  '/opens': FORM(OPENS),
  '/opens-blank': FORM(
    `<script>document.querySelector('form').addEventListener('submit', async (event) => {
      event.preventDefault();
      const opened = open('about:blank');
      setTimeout(() => { opened.location = '${OTHER_SITE}/asks'; }, 50);
      await fetch('/in', { method: 'POST', body: new URLSearchParams(new FormData(event.target)) });
      document.body.innerHTML = '<h1>Welcome</h1><a href="/logout">Log out</a>';
    });</script>`,
  ),
  '/opens-apart': FORM(OPENS.replace("/asks'", "/asks', '', 'noopener'")),
  '/opens-own': FORM(OPENS.replace(OTHER_SITE, '')).replace('/in"', '/code"'),
  '/code': CODE_FORM,
  '/code-then-window': `${CODE_FORM}<script>window.openLate = () => { open('${OTHER_SITE}/asks'); };</script>`,
  '/asks': ASKS,
  '/provider': `<h1>Sign in</h1><a href="#" onclick="window.open('${OTHER_SITE}/asks'); return false">Continue with Okta</a>`,
  '/asks-in-name': FORM(
    `<script>document.querySelector('form').addEventListener('submit', () => open('${OTHER_SITE}/asks?client_id=1&redirect_uri=' +
      encodeURIComponent(location.origin + '/back')));</script>`,
  ).replace('/in"', '/waits"'),
  '/waits': '<h1>Sign in</h1><p>Please go on in the other window.</p>',
};

const stores = useStore();
let on: LoginOnSite;
it.beforeAll(async ({ service }) => {
  on = await startLoginOnSite(service, stores().store, PAGES);
});
afterAll(() => on.close());

const strange = (): string => `http://127.0.0.1:${String(on.site.port)}/`;

describe('a foreign window', () => {
  it.each([
    ['that the press opens', '/opens', []],
    ['that the press opens, where the connection names its domains', '/opens', ['localhost']],
    ['that opens empty and is led there then', '/opens-blank', []],
    ['that knows nothing of who opened it', '/opens-apart', []],
  ])('%s is not read as the login', async (_what, path, allowedDomains) => {
    const outcome = await on.logIn(path, { allowedDomains });
    expect(outcome).toMatchObject({ reading: { kind: 'logged_in' } });
    expect(JSON.stringify(outcome)).not.toContain(strange());
    await eventually(async () => {
      const page = await on.deps.pages.of('p', on.sessionId);
      expect(
        page
          .context()
          .pages()
          .map((each) => each.url()),
      ).toEqual([expect.not.stringContaining(strange())]);
    });
  });

  it('that opens while a person looks up a code does not receive it', async () => {
    await on.logIn('/opens-own', { allowedDomains: [] });
    const page = await on.open('/code-then-window');
    const reading = await readLogin(page);
    await page.evaluate('openLate()');
    await eventually(() => {
      expect(on.site.requests).toContain('/asks');
    });
    const outcome = await on.enter(reading, { allowedDomains: [] });
    expect(on.capturedKeys).toEqual([]);
    expect(on.posted).toEqual([expect.stringMatching(/^localhost:\d+ code=/)]);
    expect(outcome).toMatchObject({ reading: { kind: 'logged_in' } });
  });
});

describe('a window of the login', () => {
  it("is one on the connection's site", async () => {
    expect(await on.logIn('/opens-own', { allowedDomains: [] })).toMatchObject({
      reading: { kind: 'form', url: `${on.site.origin}/asks` },
    });
  });

  it('is one that opens when a provider is chosen, on any site', async () => {
    const reading = await readLogin(await on.open('/provider'));
    const [choice] = reading.choices;
    expect(choice).toMatchObject({ type: 'sso_provider' });
    const outcome = await on.enter(reading, { allowedDomains: [] }, choice);
    expect(outcome).toMatchObject({ reading: { kind: 'form', url: `${strange()}asks` } });
  });

  it("is one with an authorization request of the site to a company's own provider", async () => {
    expect(await on.logIn('/asks-in-name', { allowedDomains: [] })).toMatchObject({
      reading: { kind: 'form', url: containing(`${strange()}asks`) },
    });
  });
});
