import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { checkPassword, posted, show, signIn, visitor } from '../visit.ts';

const PATH = '/login';

/** User name and password on one page. A wrong password answers 401; the session cookie lasts a month. */
export function onePageLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, page('', ''));
  });

  app.post(PATH, (request, reply) => {
    const username = posted(request, 'username');
    const user = checkPassword(state, PATH, username, posted(request, 'password'), true);
    if (!user)
      return show(reply, page(username, state.complaintOf(username) ?? 'Incorrect username or password.'), 401);
    return signIn(state, request, reply, user.username, 'persistent');
  });
}

function page(username: string, error: string): string {
  return document(
    'Sign in - Sandbox',
    `${BASE_STYLES} .flash-error { background: #fdecea; color: #8a1c12; padding: .5rem 1rem; margin-bottom: 1rem; }`,
    html`<header>
        <a href="/">Sandbox</a>
        <form action="/search" role="search">
          <input type="search" name="q" placeholder="Search" aria-label="Search" />
        </form>
      </header>
      <main>
        <h1>Sign in</h1>
        ${error ? html`<div class="flash-error" role="alert">${error}</div>` : nothing}
        <form method="post" action="${PATH}">
          <input type="hidden" name="form_token" value="one-page" />
          <label for="username">Username or email</label>
          <input
            id="username"
            name="username"
            type="text"
            autocomplete="username"
            autocapitalize="none"
            required
            value="${username}"
          />
          <label for="password">Password</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required />
          <label><input type="checkbox" name="remember" value="1" checked /> Remember me</label>
          <p><button type="submit">Sign in</button></p>
        </form>
        <p>
          <a href="/help/password">Forgot your password?</a> ·
          <a href="/register">Create an account</a>
        </p>
      </main>`,
  );
}
