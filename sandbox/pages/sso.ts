import type { FastifyInstance, FastifyRequest } from 'fastify';
import { BASE_STYLES, document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { findUser } from '../users.ts';
import { queried, checkPassword, posted, SESSION_COOKIE, sessionCookie, show, signIn, visitor } from '../visit.ts';

const PATH = '/login/sso';
const PROVIDERS: readonly (readonly [string, string])[] = [
  ['google', 'Google'],
  ['microsoft', 'Microsoft'],
  ['apple', 'Apple'],
  ['github', 'GitHub'],
];

/** Callback path of the providers. */
const RETURN = `${PATH}/return`;
/** The same providers in a popup, which closes when done and notifies its opener. */
const IN_WINDOW = '/login/popup';
/** Marks a visitor of {@link IN_WINDOW}. */
const WINDOW_COOKIE = 'sandbox_window';
/** How long the page takes to notice, like one that polls its server. */
const NOTICES_AFTER_MS = 700;
const CLOSE_WINDOW = html`<p>Done</p>
  <script>
    window.opener.postMessage('done', location.origin);
    setTimeout(() => window.close(), 500);
  </script>`;

/**
 * Identity provider buttons above the site's own form. They lead to a practice provider at a different origin: the same server under
 * its other host name.
 */
export function ssoLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, loginPage(request, '', ''));
  });

  app.post(PATH, (request, reply) => {
    const email = posted(request, 'email');
    const user = checkPassword(state, PATH, email, posted(request, 'password'), true);
    if (!user) return show(reply, loginPage(request, email, 'Email and password do not match.'));
    return signIn(state, request, reply, user.username, 'persistent');
  });

  app.get(RETURN, (request, reply) => {
    const ticket = queried(request, 'ticket');
    const pending = state.pending(ticket);
    if (pending?.page !== RETURN) return reply.redirect(PATH, 303);
    if (queried(request, 'from') === 'apple' && queried(request, 'continue') === '') {
      const fields = { ticket, from: 'apple', continue: 'yes' };
      return show(
        reply,
        questionPage('You are about to sign in with a third-party account', RETURN, fields, ['Continue']),
      );
    }
    state.closePending(ticket);
    if (request.cookies[WINDOW_COOKIE] === undefined) return signIn(state, request, reply, pending.user, 'persistent');
    void reply.clearCookie(WINDOW_COOKIE, { path: '/' });
    void reply.setCookie(SESSION_COOKIE, state.openSession(pending.user), sessionCookie('persistent'));
    return show(reply, document('Done', BASE_STYLES, CLOSE_WINDOW));
  });

  app.get(IN_WINDOW, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    void reply.setCookie(WINDOW_COOKIE, 'yes', { path: '/', httpOnly: true, sameSite: 'lax' });
    return show(reply, windowPage(request));
  });

  app.get<{ Params: { provider: string } }>('/idp/:provider', (request, reply) => {
    const name = nameOf(request.params.provider);
    return name
      ? show(reply, providerPage(request.params.provider, name, queried(request, 'login'), ''))
      : reply.code(404).send();
  });

  app.post<{ Params: { provider: string } }>('/idp/:provider', (request, reply) => {
    const { provider } = request.params;
    const name = nameOf(provider);
    if (!name) return reply.code(404).send();
    const login = posted(request, 'login');
    const password = posted(request, 'password');
    if (password === '') {
      const known = findUser(login);
      state.count(known?.username ?? login, `/idp/${provider}`, 'identifier', known ? undefined : false);
      const error = known ? '' : `We don't know that ${name} account.`;
      return show(reply, providerPage(provider, name, known ? login : '', error));
    }
    const user = checkPassword(state, `/idp/${provider}`, login, password, true);
    if (!user) return show(reply, providerPage(provider, name, login, 'Wrong password. Try again.'));
    const ticket = state.openPending(user.username, RETURN, true);
    const back = `${otherOrigin(request)}${RETURN}`;
    const fields = { ticket, from: provider };
    if (provider === 'microsoft')
      return show(reply, questionPage('Sandbox wants to access your account', back, fields, ['Allow', 'Cancel']));
    return reply.redirect(`${back}?${new URLSearchParams(fields).toString()}`, 303);
  });
}

/** The provider's origin for the site, and vice versa. The same origin under any other host name. */
export function otherOrigin({ hostname, port }: FastifyRequest): string {
  const others = new Map([
    ['localhost', '127.0.0.1'],
    ['127.0.0.1', 'localhost'],
  ]);
  const other = others.get(hostname);
  return other === undefined ? '' : `http://${other}:${port}`;
}

function nameOf(provider: string): string | undefined {
  return PROVIDERS.find(([id]) => id === provider)?.[1];
}

function loginPage(request: FastifyRequest, email: string, error: string): string {
  return document(
    'Welcome back',
    `${BASE_STYLES} .idp { display: block; border: 1px solid #c8d0d8; border-radius: 6px; padding: .6rem; margin: .5rem 0; text-align: center; color: inherit; text-decoration: none; } .or { text-align: center; color: #6b7780; } .err { color: #c0392b; }`,
    html`<main>
      <h1>Welcome back</h1>
      ${PROVIDERS.map(([id, name]) => html`<a class="idp" href="${otherOrigin(request)}/idp/${id}" data-provider="${id}"><span>Continue with ${name}</span></a>`)}
      <p class="or">or</p>
      <form method="post" action="${PATH}">
        <input type="email" name="email" placeholder="Email address" autocomplete="email" value="${email}" />
        <input type="password" name="password" placeholder="Password" autocomplete="current-password" />
        ${error ? html`<p class="err">${error}</p>` : nothing}
        <button type="submit">Continue</button>
      </form>
      <p>New here? <a href="/register">Create an account</a></p>
    </main>`,
  );
}

function windowPage(request: FastifyRequest): string {
  const open = (id: string): string =>
    `window.open('${otherOrigin(request)}/idp/${id}', 'provider', 'width=480,height=600')`;
  return document(
    'Sign in to Sandbox',
    `${BASE_STYLES} .idp { display: block; width: 100%; padding: .6rem; margin: .5rem 0; }`,
    html`<main>
        <h1>Sign in to Sandbox</h1>
        ${PROVIDERS.slice(0, 2).map(([id, name]) => html`<button class="idp" type="button" onclick="${open(id)}">Continue with ${name}</button>`)}
      </main>
      <script>
        addEventListener('message', ({ origin, data }) => {
          if (origin === location.origin && data === 'done')
            setTimeout(() => location.assign('/account'), ${NOTICES_AFTER_MS});
        });
      </script>`,
  );
}

/** A page between the provider and the site, with a question and its buttons. */
function questionPage(question: string, action: string, fields: Record<string, string>, buttons: string[]): string {
  return document(
    question,
    BASE_STYLES,
    html`<main>
      <h1>${question}</h1>
      <form method="get" action="${action}">
        ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
        ${buttons.map((button) => html`<button type="submit">${button}</button>`)}
      </form>
    </main>`,
  );
}

function providerPage(provider: string, name: string, login: string, error: string): string {
  return document(
    `Sign in - ${name}`,
    `${BASE_STYLES} main { border-top: 6px solid #3367d6; } .error-text { color: #d93025; }`,
    html`<main>
      <h1>Sign in with ${name}</h1>
      <p>to continue to Sandbox (a practice provider, not ${name} itself)</p>
      <form method="post" action="/idp/${provider}">
        ${
          login === ''
            ? html`<label>Email or username<input type="text" name="login" autocomplete="username" /></label>`
            : html`<p>${login}</p>
                <input type="hidden" name="login" value="${login}" /><label
                  >Password<input type="password" name="password" autocomplete="current-password"
                /></label>`
        }
        ${error ? html`<p class="error-text" role="alert">${error}</p>` : nothing}
        <button type="submit">Next</button>
      </form>
    </main>`,
  );
}
