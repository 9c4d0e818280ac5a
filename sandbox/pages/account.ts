import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { SANDBOX_USERS } from '../users.ts';
import { SESSION_COOKIE, show, visitor } from '../visit.ts';

/** The home page, the account page behind the login, sign-out, and the pages that the login pages link to. */
export function accountPages(app: FastifyInstance, state: SiteState): void {
  app.get('/', (request, reply) => {
    const user = visitor(state, request);
    const corner = user
      ? html`<nav><a href="/account">${user.name}</a> <a href="/logout">Sign out</a></nav>`
      : html`<nav><a href="/pricing">Pricing</a> <a href="/login">Sign in</a></nav>`;
    return show(
      reply,
      document(
        'Sandbox',
        BASE_STYLES,
        html`<header><strong>Sandbox</strong>${corner}</header>
          <main style="max-width: 44rem">
            <h1>A place to practise logging in</h1>
            <p>Every page below is a login of its own kind. Nothing on this site is real.</p>
            <ul>
              ${LOGIN_PAGES.map(([path, what]) => html`<li><a href="${path}">${what}</a></li>`)}
            </ul>
            <h2>Switches</h2>
            <p>Sent as JSON; <code>POST /test/reset</code> puts everything back.</p>
            <ul>
              ${SWITCHES.map(([call, what]) => html`<li><code>POST ${call}</code>: ${what}</li>`)}
            </ul>
            <h2>Users</h2>
            <ul>
              ${SANDBOX_USERS.map((each) => html`<li><code>${each.username}</code> / <code>${each.password}</code> (made for <code>${each.loginPath}</code>)</li>`)}
            </ul>
          </main>`,
      ),
    );
  });

  app.get('/account', (request, reply) => {
    const user = visitor(state, request);
    if (!user) return reply.redirect('/login', 303);
    return show(
      reply,
      document(
        'Your account - Sandbox',
        BASE_STYLES,
        html`<header>
            <a href="/">Sandbox</a>
            <span>${user.email}</span>
            <form method="post" action="/logout">
              <button type="submit">Sign out</button>
            </form>
          </header>
          <main>
            <h1>Hello, ${user.name}</h1>
            <dl>
              <dt>User name</dt>
              <dd id="who">${user.username}</dd>
              <dt>E-mail</dt>
              <dd>${user.email}</dd>
            </dl>
          </main>`,
      ),
    );
  });

  app.route({
    method: ['GET', 'POST'],
    url: '/logout',
    handler: (request, reply) => {
      state.closeSession(request.cookies[SESSION_COOKIE]);
      void reply.clearCookie(SESSION_COOKIE, { path: '/' });
      return reply.redirect('/', 303);
    },
  });

  for (const path of ['/pricing', '/register', '/help/password', '/search']) {
    app.get(path, (_request, reply) =>
      show(
        reply,
        document(
          'Sandbox',
          BASE_STYLES,
          html`<main>
            <p>There is nothing here.</p>
            <a href="/">Back</a>
          </main>`,
        ),
      ),
    );
  }
}

const LOGIN_PAGES: readonly (readonly [string, string])[] = [
  ['/login', 'User name and password on one page'],
  [
    '/login/customer',
    'A customer number and a user ID beside the password (the number is 4711 and the end of the phone number)',
  ],
  ['/login/two-forms', 'Forms for partners and for members, and an entrance for staff: only members are let in'],
  ['/login/two-step', 'E-mail first, then the password'],
  ['/login/late', 'A form that a script builds late'],
  ['/login/totp', 'Password, then an authenticator code'],
  ['/login/enrol', 'Password, then a new authenticator to set up, whose key Holdfast may keep; then its codes'],
  ['/login/sms', 'Password, then a code by text message'],
  ['/login/mfa-choice', 'Password, then a choice of second factors'],
  ['/login/two-phones', 'Password, then one of two phones, a call or a backup code'],
  ['/login/sso', 'Identity providers beside a form (Microsoft asks to share data; Apple comes with a page between)'],
  ['/login/popup', 'Identity providers in a window of their own, which closes when it is done'],
  ['/login/framed', 'The form of another site, two frames deep'],
  ['/login/modal', 'A form in a window that a button opens; the session is a token of the page'],
  [
    '/login/forgetful',
    'A login that no browser keeps: the token is in the memory of the page (session_not_persistent)',
  ],
  ['/login/code-beside', 'A code field that joins the e-mail and the password'],
  ['/login/picker', 'An account picker'],
  ['/login/push', 'Password, then a question on the phone'],
  ['/login/push-code', 'The same, with a field for a code beside it'],
  ['/login/magic-link', 'A link by e-mail, among others that sign nobody in; see /test/mail-link'],
  ['/login/passkey', 'A passkey only (the next page creates one)'],
  [
    '/login/passkey-offer',
    'A passkey in the list of the user name field; without one a password, a code by text message and the offer to create one',
  ],
  ['/login/captcha', 'A challenge for humans that nobody can solve'],
  [
    '/login/captcha-widget',
    'A widget with a key of the site, which a solver answers where one is set (HOLDFAST_CAPTCHA_URL=http://localhost:8081/captcha-solver for a practice one; as HOLDFAST_CAPTCHA_KEY, wrong, slow, refused or nonsense have it fail), else a person by a tick; then the form. /captcha-solver/asked shows what it was told',
  ],
  [
    '/login/captcha-beside',
    'A box to tick beside user name and password: a solver answers it where one is set, else a person on the page itself; the password goes out once, after that',
  ],
  ['/login/captcha-widget/form', 'The same with a button to send it'],
  ['/login/press-and-hold', 'A button that is to be held for a moment, before the form'],
  [
    '/login/questions',
    'A list, a date and a word (Apple, 2026-12-24, groß) to give on the page itself, before the form',
  ],
  ['/login/drag-puzzle', 'A piece that is to be dragged to its place, before the form'],
  ['/login/blocked', 'A refusal'],
  ['/login/elsewhere', 'A redirect to a private address'],
  ['/login/slow', 'An answer that comes late'],
  ['/login/error500', 'An error of the server'],
];

/** Demonstrations: what to do to the site, and what a connection shows afterwards. */
const SWITCHES: readonly (readonly [string, string])[] = [
  ['/test/expire {user}', 'every session of the user ends; the next check finds it and logs in again by itself'],
  [
    '/test/layout {layout}',
    '"renamed" gives the fields of /login other names, "steps" puts its password on a page of its own; logging in again reads the page where its plan does not fit, and remembers the new way; "dead_end" signs nobody in: a plan that has failed so twice is given up, and can_reauth says no_viable_plans until the credential changes ("usual" puts it back)',
  ],
  [
    '/test/enrolment {key}',
    '"img", "canvas" or "svg" shows the key of /login/enrol as a QR code alone; it is offered to be kept all the same ("text" puts it back)',
  ],
  [
    '/test/captcha {beside}',
    'how the box of /login/captcha-beside behaves: "keyless" (no solver can be asked: a person ticks it, and logging in again with nobody there ends with captcha_blocked before the password is sent), "typed" (it comes up while the password is typed), "later" (after a first try, of which the site says that it has not looked at the password), "itself" and "unseen" (it answers itself, in and out of sight: nobody is asked), "framed" (in a frame, with the form); "tick" puts it back',
  ],
  [
    '/test/lock {user, why}',
    '"locked" or "attempts": no password is taken; logging in again types it once, ends with max_attempts_reached and leaves the site alone until a person has logged in (without why the user is let in again)',
  ],
  [
    '/test/other-account {user, as}',
    'logins end in the account of as; the login ends with its own code and changes nothing',
  ],
  ['/test/users/{user}/password {password}', 'the stored password is wrong now: typed once, then a person is needed'],
  [
    '/test/mail-link {opens, press}',
    '"here": a link by e-mail signs in the browser that opens it, which must be the one that waits ("there", as ever: it lets the page that waits go on); with press "button" its page wants a button pressed first; logging in again does all of it by itself where mails reach the connection (codes.email_address, or text to POST …/codes)',
  ],
  ['/test/refuse-codes {user, times}', 'so many authenticator codes are refused; two in a row count as refused'],
  ['/test/totp-period {user, seconds}', 'how long each code of an authenticator stands: 30 to begin with'],
  ['/test/approve {user}', 'the person agrees on the phone; the login goes on by itself'],
  [
    '/test/mode {mode}',
    'the site is "down", answers "nonsense" or is "slow"; checks are inconclusive and change nothing',
  ],
];
