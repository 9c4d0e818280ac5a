import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { SANDBOX_USERS } from '../users.ts';
import { beginPending, checkPassword, pendingOf, posted, show, signIn } from '../visit.ts';

/** Delay of `/login/slow`, in milliseconds; `?ms=` overrides it. */
const SLOW_MS = 4_000;
const PICKER = '/login/picker';

/** Obstacles to a login: errors, slowness, an account picker, a captcha, a block page. */
export function walls(app: FastifyInstance, state: SiteState): void {
  app.get('/login/error500', (_request, reply) =>
    show(
      reply,
      document(
        'Error',
        BASE_STYLES,
        html`<main>
          <h1>Internal Server Error</h1>
          <p>Something broke on our side.</p>
        </main>`,
      ),
      500,
    ),
  );

  app.get<{ Querystring: { ms?: string } }>('/login/slow', async (request, reply) => {
    await wait(Math.min(Number(request.query.ms ?? SLOW_MS) || SLOW_MS, 60_000));
    return reply.redirect('/login', 303);
  });

  app.get('/login/captcha', (_request, reply) =>
    show(
      reply,
      document(
        'One moment',
        BASE_STYLES,
        html`<main>
          <h1>Verify you are human</h1>
          <p>Complete the security check to go on.</p>
          <div class="g-recaptcha">
            <label><input type="checkbox" /> I'm not a robot</label>
          </div>
        </main>`,
      ),
    ),
  );

  // A link-local address: whoever follows it has left the public internet.
  app.get('/login/elsewhere', (_request, reply) => reply.redirect('http://10.255.255.1/login', 303));

  app.get('/login/blocked', (_request, reply) =>
    show(
      reply,
      document(
        'Access denied',
        BASE_STYLES,
        html`<main>
          <h1>Access denied</h1>
          <p>You have been blocked. Reference 17.</p>
        </main>`,
      ),
      403,
    ),
  );

  accountPicker(app, state);
}

function accountPicker(app: FastifyInstance, state: SiteState): void {
  app.get(PICKER, (_request, reply) =>
    show(
      reply,
      document(
        'Choose an account',
        `${BASE_STYLES} li { list-style: none; border-bottom: 1px solid #dde3e9; padding: .75rem; cursor: pointer; }`,
        html`<main>
            <h1>Choose an account</h1>
            <form method="post" action="${PICKER}">
              <input type="hidden" name="account" />
              <ul>
                ${SANDBOX_USERS.slice(0, 3).map(
                  (user) =>
                    html`<li role="link" tabindex="0" data-identifier="${user.email}">
                      <div>${user.name}</div>
                      <div>${user.email}</div>
                    </li>`,
                )}
                <li role="link" tabindex="0" data-identifier="">Use another account</li>
              </ul>
            </form>
          </main>
          <script>
            document.querySelectorAll('li').forEach((row) =>
              row.addEventListener('click', () => {
                if (!row.dataset.identifier) {
                  location.assign('/login');
                  return;
                }
                document.forms[0].account.value = row.dataset.identifier;
                document.forms[0].submit();
              }),
            );
          </script>`,
      ),
    ),
  );

  app.post(PICKER, (request, reply) => {
    const user = SANDBOX_USERS.find((each) => each.email === posted(request, 'account'));
    if (!user) return reply.redirect(PICKER, 303);
    beginPending(state, reply, user.username, PICKER, false);
    return reply.redirect(`${PICKER}/password`, 303);
  });

  app.get(`${PICKER}/password`, (request, reply) => {
    const pending = pendingOf(state, request, PICKER);
    return pending ? show(reply, passwordPage(pending.user, '')) : reply.redirect(PICKER, 303);
  });

  app.post(`${PICKER}/password`, (request, reply) => {
    const pending = pendingOf(state, request, PICKER);
    if (!pending) return reply.redirect(PICKER, 303);
    const user = checkPassword(state, PICKER, pending.user, posted(request, 'password'), true);
    if (!user) return show(reply, passwordPage(pending.user, 'Your password is incorrect.'));
    return signIn(state, request, reply, user.username, 'persistent');
  });
}

function passwordPage(username: string, error: string): string {
  return document(
    'Enter password',
    BASE_STYLES,
    html`<main>
      <p>${username}@sandbox.test</p>
      <h1>Enter password</h1>
      <form method="post" action="${PICKER}/password">
        <div role="alert" style="color: #c0392b">${error}</div>
        <input type="password" name="password" placeholder="Password" aria-label="Enter the password" /><button
          type="submit"
        >
          Sign in
        </button>
      </form>
    </main>`,
  );
}
