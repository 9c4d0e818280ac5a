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
  ['/login/two-step', 'E-mail first, then the password'],
  ['/login/late', 'A form that a script builds late'],
  ['/login/totp', 'Password, then an authenticator code'],
  ['/login/sms', 'Password, then a code by text message'],
  ['/login/mfa-choice', 'Password, then a choice of second factors'],
  ['/login/two-phones', 'Password, then one of two phones, a call or a backup code'],
  ['/login/sso', 'Identity providers beside a form (Microsoft asks to share data; Apple comes with a page between)'],
  ['/login/modal', 'A form in a window that a button opens; the session is a token of the page'],
  ['/login/code-beside', 'A code field that joins the e-mail and the password'],
  ['/login/picker', 'An account picker'],
  ['/login/push', 'Password, then a question on the phone'],
  ['/login/push-code', 'The same, with a field for a code beside it'],
  ['/login/magic-link', 'A link by e-mail'],
  ['/login/passkey', 'A passkey only'],
  ['/login/captcha', 'A challenge for humans'],
  ['/login/blocked', 'A refusal'],
  ['/login/elsewhere', 'A redirect to a private address'],
  ['/login/slow', 'An answer that comes late'],
  ['/login/error500', 'An error of the server'],
];
