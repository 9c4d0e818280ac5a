import { type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowserService } from '../../browser-client/service.ts';
import type { Pages } from '../../activities/login/session/pages.ts';
import { markFilledFields, readAfterEntering } from '../../activities/login/reading/read-after-entering.ts';
import type { PageReading } from '../../contract/reading.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';
import { loginTarget } from './login-fixtures.ts';

let browser: Browser;
let tab: Page;
beforeAll(async () => {
  browser = await openViewer();
  tab = await browser.newPage();
});
afterAll(() => closeViewer(browser));

/** No service listens there, so that no page is read anonymously. */
const service = createBrowserService({ baseUrl: 'http://127.0.0.1:9', apiKey: 'none' });

/** Reads a page as after an answer. `html`: the successive responses of `url`; the last one repeats. */
async function after(
  html: string | string[],
  inputsBefore: number | null = null,
  url = '',
  error: string | null = null,
  alerts: string[] = [],
): Promise<PageReading> {
  // Cheaper than a new page, which costs a process.
  await tab.goto('about:blank');
  const pages: Pages = {
    of: () => Promise.resolve(tab),
    release: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  try {
    const answers = [html].flat();
    if (url === '') await tab.setContent(`<!doctype html>${answers.join('')}`);
    else {
      const inside = '<a href="/logout">Log out</a>';
      await tab.route('**/*', async (route) => {
        const isAsked = route.request().url() === url;
        const body = isAsked ? (answers.length > 1 ? answers.shift() : answers[0]) : inside;
        await route.fulfill({ contentType: 'text/html', body: `<!doctype html>${body ?? ''}` });
      });
      await tab.goto(url);
    }
    const { signal } = new AbortController();
    return await readAfterEntering(
      { pages, service },
      { projectId: 'p', browser: null, domain: 'acme.test' },
      's',
      'login',
      inputsBefore === null
        ? null
        : { page: tab, url: tab.url(), inputs: inputsBefore, inFlight: new Set(), error, alerts },
      signal,
    );
  } finally {
    await tab.unrouteAll();
  }
}

const offers = ({ kind, choices }: PageReading): unknown => [
  kind,
  ...choices.map(({ type, label, agrees_to_nothing: free }) => `${type} ${label}${free === true ? ' *' : ''}`),
];

describe('after the last answer', () => {
  it('waits for a form that stays filled in while a script navigates', async () => {
    const { kind } = await after(`<title>Log in</title><form>
      <input name="user" value="ann"><input type="password" name="p" value="secret"><button disabled>Logging in</button></form>
      <script>setTimeout(() => { document.body.innerHTML = '<h1>Overview</h1><p>4 failed login attempts</p><p>Disks: 2</p>'; }, 2500);</script>`);
    expect(kind).toBe('logged_in');
  });

  it('stops waiting once the form has gained a code field, although the rest stays filled in', async () => {
    const page = `<title>Log in</title><form><input name="user" value="ann"><input type="password" name="p" value="secret">
      <label>One-time code <input name="otp" autocomplete="one-time-code"></label><button>Log in</button></form>
      <script>setTimeout(() => { document.body.innerHTML = '<a href="/logout">Log out</a>'; }, 3500);</script>`;
    expect((await after(page, 2)).fields.map(({ type }) => type)).toEqual(['identifier', 'password', 'totp_code']);
    // The same field, left empty as it may be, says nothing new.
    expect((await after(page, 3)).kind).toBe('logged_in');
  });

  it('leaves an identifier alone that is still filled in when the password joins it', async () => {
    const page = (error: string): string => `<title>Log in</title><form><input name="user" value="ann">
      <input type="password" name="p">${error}<button>Log in</button></form>`;
    const held = async (error: string): Promise<boolean[]> => {
      const reading = await after(page(error));
      const user = reading.fields.flatMap((field) => (field.type === 'identifier' ? [field] : []));
      const entries = user.map((field) => ({
        field,
        ref: 'username',
        source: { kind: 'submission' as const, fieldId: 'f' },
      }));
      const answer = { entries, submit: reading.submit, choice: null };
      const pages = {
        of: () => Promise.resolve(tab),
        release: () => Promise.resolve(),
        close: () => Promise.resolve(),
      };
      const marked = await markFilledFields({ pages }, { target: loginTarget(), sessionId: 's', answer }, reading);
      return marked.fields.map((field) => field.held === true);
    };
    expect(await held('')).toEqual([true, false]);
    expect(await held('<p role="alert">Unknown user</p>')).toEqual([false, false]);
  });

  it.each([
    ['each of them', '<input name="user" value="ann" disabled><input type="password" name="p" value="no" disabled>'],
    ['all at once', '<fieldset disabled><input name="user" value="ann"><input type="password" value="no"></fieldset>'],
  ])('does not take a page with fields disabled during submission for signed in: %s', async (_how, fields) => {
    const { kind, website_error: refusal } = await after(`<title>Welcome home</title><form>
      ${fields}<p id="error" role="alert"></p><button>Log in</button></form>
      <script>setTimeout(() => {
        for (const each of document.querySelectorAll('[disabled]')) each.disabled = false;
        document.getElementById('error').textContent = 'Invalid user name or password';
      }, 2500);</script>`);
    expect([kind, refusal]).toEqual(['form', 'Invalid user name or password']);
  });

  it('takes an error that was there before for no answer', async () => {
    const page = `<title>Console</title><div role="alert" class="alert alert-danger">Login failed</div><h1>Status</h1>
      <button>Overview</button><button>History</button><button>Configuration</button><table><tr><td>Messages<td>12</table>`;
    expect(await after(page, 1, '', 'Login failed')).toMatchObject({ kind: 'logged_in', website_error: null });
    expect(await after(page, 1)).toMatchObject({ kind: 'other', website_error: 'Login failed' });
    const plain = page.replace('role="alert" class="alert alert-danger"', '');
    expect((await after(plain, 1, '', 'Login failed')).kind).toBe('logged_in');
  });

  it('waits for the answer of a form that still shows an earlier error', async () => {
    const page = `<title>Log in</title><div role="alert">Login failed</div><form><input name="user" value="ann">
      <input type="password" name="p" value="secret"><button>Log in</button></form>
      <script>setTimeout(() => { document.body.innerHTML = '<a href="/logout">Log out</a>'; }, 800);</script>`;
    expect((await after(page, 2, '', 'Login failed')).kind).toBe('logged_in');
    expect(await after(page, 2)).toMatchObject({ kind: 'form', website_error: 'Login failed' });
  });

  it('reads "stay signed in?" as a choice that may be answered with yes', async () => {
    const page = `<title>Sign in</title><h1>Stay signed in?</h1><p>Do this to sign in less often.</p>
      <input type="button" value="No"><input type="submit" value="Yes">`;
    expect(offers(await after(page))).toEqual(['choice', 'other No', 'other Yes *']);
  });

  it('postpones optional requests of a site', async () => {
    const page = `<title>Acme</title><h1>Add a phone number</h1><p>It helps to get back in.</p>
      <button>Add phone</button><button>Not now</button>`;
    expect(offers(await after(page))).toEqual(['choice', 'other Add phone', 'other Not now *']);
  });

  it('postpones a new password, although the page offers to sign out', async () => {
    const page = `<title>Acme</title><h1>Your password will expire in 5 days</h1><form><input type="password" name="old">
      <input type="password" name="newPassword"><input type="password" name="confirmPassword"><button>Change password</button></form>
      <a href="#">Remind me later</a><a href="#">Sign out</a>`;
    expect(offers(await after(page))).toEqual(['choice', 'other Change password', 'other Remind me later *']);
  });

  it('leaves agreeing to terms to a person', async () => {
    const page = `<title>Acme</title><h1>We have updated our Terms of Service</h1><p>Read them before you go on.</p>
      <button>I agree</button><button>Decline</button><a href="/terms">Read the terms</a>`;
    expect(offers(await after(page))).toEqual(['choice', 'other I agree', 'other Decline']);
  });

  it('does not take a terms page for signed in, although declining logs out', async () => {
    const page = `<title>Acme</title><header><a href="/logout">Sign out</a></header><h1>Terms of Service and Privacy Policy</h1>
      <p>Read them before you go on.</p><button>Accept terms</button><form action="/logout"><button>Decline</button></form>`;
    expect(offers(await after(page))).toEqual(['choice', 'other Accept terms', 'other Decline']);
  });

  it('checks only the boxes that the terms require once a person agrees', async () => {
    const page = `<title>Acme</title><h1>Terms and conditions</h1><form><label><input type="checkbox" id="terms"
      onchange="this.form.go.disabled = !this.checked"> I have read the <a href="/terms">terms</a></label>
      <label><input type="checkbox" id="news"> I agree to receive special offers</label>
      <label><input type="checkbox" id="age" required> I am of age</label>
      <label><input type="checkbox" id="kept" required checked> I keep my password to myself</label>
      <button name="go" disabled>Continue</button></form><form><button>Decline</button></form>`;
    const reading = await after(page);
    expect(offers(reading)).toEqual(['choice', 'other Continue', 'other Decline']);
    const [go, decline] = reading.choices;
    expect(go?.description).toBe('I have read the terms · I am of age');
    expect(go?.ticks?.map(({ selector }) => selector)).toEqual(['#terms', '#age']);
    expect(decline?.ticks).toBeUndefined();
  });

  it('passes a page whose only button continues', async () => {
    const page = `<title>Sign in</title><h1>Sign in via GitHub</h1><p>You are about to sign in using a third-party account.</p>
      <form method="post"><button type="submit">Continue</button></form>`;
    expect(offers(await after(page))).toEqual(['choice', 'other Continue *']);
  });

  it('leaves granting an application access to a provider account to a person', async () => {
    const page = `<title>Authorize</title><h1>Portal wants to access your account</h1><ul><li>Your name</li></ul>
      <button>Authorize</button><button>Cancel</button>`;
    const reading = await after(page);
    expect(offers(reading)).toEqual(['choice', 'other Authorize', 'other Cancel']);
    expect(reading.choices[0]?.description).toBe('Portal wants to access your account · Your name');
    // A heading alone says it, too: the only button is not one that merely leads on.
    const bare = `<title>Consent</title><h1>Authorize</h1><ul><li>scopes: profile</li></ul>
      <form><button type="submit">Continue</button></form><a href="/abort">[ Cancel ]</a>`;
    expect(offers(await after(bare))).toEqual(['choice', 'other Continue']);
  });

  it('takes a page with many controls for signed in, whatever it offers', async () => {
    const menu = Array.from({ length: 14 }, (_, index) => `<button>Item ${index}</button>`).join('');
    expect((await after(`<title>Acme</title><h1>Inbox</h1>${menu}<button>Skip</button>`)).kind).toBe('logged_in');
  });

  it('acknowledges a notice', async () => {
    const notice = `<title>Portal</title><h1>Scheduled maintenance</h1><p>On Sunday the portal is not available.</p>
      <form><button>I have read this notice</button></form>`;
    expect(offers(await after(notice))).toEqual(['choice', 'other I have read this notice *']);
  });

  it.each([
    [
      'Login failed',
      '<h1>Login failed</h1><p>The user name or password is incorrect.</p>',
      'The user name or password is incorrect.',
    ],
    ['Unknown user', '<h1>Error</h1><p>Unknown user or wrong password.</p>', 'Unknown user or wrong password.'],
    ['an alert', '<p role="alert">Falsches Passwort</p><p>Hilfe</p>', 'Falsches Passwort'],
  ])('does not take a page that only refuses for signed in: %s', async (_name, html, error) => {
    const way = '<a href="/">Back</a><button onclick="history.back()">Try again</button>';
    const reading = await after(`<title>Acme</title>${html}${way}`);
    expect([reading.kind, reading.website_error]).toEqual(['other', error]);
  });

  it('reopens the form after a refusal on a page of its own', async () => {
    const refused = '<h1>Login failed</h1><p>The user name or password is incorrect.</p>';
    const form =
      '<form><label>User <input name="u"></label><label>Password <input type="password" name="p"></label><button>Log in</button></form>';
    const reading = await after([refused, form], 2, 'http://acme.test/login');
    expect([reading.kind, reading.fields.map(({ type }) => type)]).toEqual(['form', ['identifier', 'password']]);
    expect(reading.website_error).toBe('The user name or password is incorrect.');
  });

  it('tells why the browser does not submit a form', async () => {
    const form = `<title>Log in</title><form><label>Email <input name="u" type="email" value="ada"></label><label>Password
      <input name="p" type="password" value="secret"></label><button>Log in</button></form><script>document.querySelector('form').requestSubmit()</script>`;
    const reading = await after(form, 2);
    expect(reading.fields.map(({ type }) => type)).toEqual(['identifier', 'password']);
    expect(reading.website_error).toContain("include an '@'");
  });

  it('tells the refusal of an alert box', async () => {
    const page = `<title>Log in</title><form><input name="user" value="ann"><input type="password" value="no"><button>Log in</button></form>`;
    const { kind, website_error: refusal } = await after(page, 2, '', null, [
      'Code sent',
      'Wrong user name or password',
    ]);
    expect([kind, refusal]).toEqual(['form', 'Wrong user name or password']);
  });

  it('does not take a fault of the site for a refusal', async () => {
    const reading = await after(
      '<title>Acme</title><h1>Login failed</h1><p role="alert">Login failed: server error</p>',
    );
    expect([reading.kind, reading.website_error]).toEqual(['other', 'Login failed: server error']);
  });

  it('asks for another identifier that is to prove who is there', async () => {
    const reading =
      await after(`<title>Acme</title><a href="/login">Sign in</a><div role="dialog"><h1>Enter your phone number or username</h1>
      <p>There was unusual login activity on your account. Please enter your phone number or username to verify it’s you.</p>
      <label>Phone or username <input name="text"></label><button type="button">Next</button></div>`);
    expect(asked(reading)).toEqual(['form', [['identifier', 'Phone or username', true]], true]);
  });

  const question = (
    error = '',
  ): string => `<title>One more step</title><h2>Security question</h2>${error}<form method="post">
    <label>What was the name of your first pet? <input name="answer"></label><button>Continue</button></form>`;
  const asked = ({ kind, fields, submit }: PageReading): unknown => [
    kind,
    fields.map(({ type, label, required }) => [type, label, required]),
    submit !== null,
  ];

  it('asks the person a security question instead of submitting it empty', async () => {
    const answer = ['form', [['text', 'What was the name of your first pet?', true]], true];
    expect(asked(await after(question()))).toEqual(answer);
    const refused = await after(question('<p class="error" role="alert">That answer is not correct</p>'));
    expect(asked(refused)).toEqual(answer);
    expect(refused.website_error).toBe('That answer is not correct');
  });

  it('postpones an optional form without asking anyone', async () => {
    const wish = `<title>Acme</title><h2>Add a recovery email</h2><form method="post"><label>Recovery address <input name="r"></label>
      <button>Continue</button><button type="button">Not now</button></form>`;
    expect(offers(await after(wish))).toContain('other Not now *');
  });

  it('asks for other identifying details', async () => {
    const birthday = `<title>Confirm it is you</title><h2>Confirm your date of birth</h2><form method="post"><label>Day <input name="d"></label>
      <label>Month <input name="m"></label><label>Year <input name="y"></label><button>Verify</button></form>`;
    expect(asked(await after(birthday))).toEqual([
      'form',
      [
        ['text', 'Day', true],
        ['text', 'Month', true],
        ['text', 'Year', true],
      ],
      true,
    ]);
  });

  it.each([
    ['a list of tasks', '<label>New task <input name="task"></label><button>Add</button>'],
    ['a status', '<label>What is on your mind? <input name="s"></label><button>Post</button>'],
    ['a chat', '<label>Message <input name="m"></label><button>Send</button>'],
    ['a model to try', '<label>Prompt <input name="prompt"></label><button>Submit</button><button>Clear</button>'],
  ])('does not ask for the inputs of an application: %s', async (_what, form) => {
    expect((await after(`<title>Work</title><h1>Work</h1><form method="post">${form}</form>`)).kind).toBe('logged_in');
  });

  it('does not take an answered authorization request for signed in before it redirects', async () => {
    const page = `<title>Home</title><h1>Welcome home!</h1><p>${'It is good to see you here. '.repeat(10)}</p>
      <script>setTimeout(() => location.assign('/'), 2500);</script>`;
    const reading = await after(
      page,
      2,
      'http://acme.test/auth/authorize?client_id=a&redirect_uri=http%3A%2F%2Facme.test%2F',
    );
    expect([reading.kind, reading.url]).toEqual(['logged_in', 'http://acme.test/']);
  });

  it('waits for the application to redeem an authorization response', async () => {
    const page = `<title>Home</title><header><a href="/logout">Sign out</a></header><h1>Welcome home!</h1>
      <script>setTimeout(() => history.replaceState(null, '', '/'), 1500);</script>`;
    const reading = await after(page, 2, 'http://acme.test/?auth_callback=1&code=abc&state=xyz');
    expect([reading.kind, reading.url]).toEqual(['logged_in', 'http://acme.test/']);
  });

  it('reports that a new password is required', async () => {
    const page = `<title>Acme</title><h1>Your password has expired</h1><form><input type="password" placeholder="New password">
      <input type="password" placeholder="Confirm new password"><button>Save</button></form>`;
    expect((await after(page)).kind).toBe('password_change');
  });
});
