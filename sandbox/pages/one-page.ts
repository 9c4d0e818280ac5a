import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, nothing, type Html } from '../markup.ts';
import type { LoginLayout, SiteState } from '../state.ts';
import { checkPassword, posted, show, signIn, visitor } from '../visit.ts';

const PATH = '/login';
const NEWS = '/news';

/**
 * User name and password on one page, or on two, under these names or others: a switch changes the layout, as a site does when
 * it is made anew. A wrong password answers 401; the session cookie lasts a month.
 */
export function onePageLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, page(state.layout, '', ''));
  });

  app.get(NEWS, (_request, reply) => show(reply, deadEnd()));

  app.post(PATH, (request, reply) => {
    const username = posted(request, 'username') || posted(request, 'member');
    const password = posted(request, 'password') || posted(request, 'passphrase');
    if (state.layout === 'steps' && password === '') return show(reply, page(state.layout, username, ''));
    const user = checkPassword(state, PATH, username, password, true);
    if (!user)
      return show(
        reply,
        page(state.layout, username, state.lockOutMessage(username) ?? 'Incorrect username or password.'),
        401,
      );
    if (state.layout === 'dead_end') return reply.redirect(NEWS, 303);
    return signIn(state, request, reply, user.username, 'persistent');
  });
}

/** A page that everybody sees: it asks for nothing, and its way in says that nobody is inside. */
function deadEnd(): string {
  return document(
    'Sandbox',
    BASE_STYLES,
    html`<main>
      <p>Our service is changing. Here is what is new this month.</p>
      <a href="${PATH}">Sign in</a>
    </main>`,
  );
}

function page(layout: LoginLayout, username: string, error: string): string {
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
          ${layout === 'steps' && username !== '' ? html`<input type="hidden" name="username" value="${username}" />` : identifierField(layout, username)}
          ${layout === 'steps' && username === '' ? nothing : passwordField(layout)}
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

function identifierField(layout: LoginLayout, username: string): Html {
  const [name, label] = layout === 'renamed' ? ['member', 'Member name'] : ['username', 'Username or email'];
  return html`<label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="text"
      autocomplete="username"
      autocapitalize="none"
      required
      value="${username}"
    />`;
}

function passwordField(layout: LoginLayout): Html {
  const [name, label] = layout === 'renamed' ? ['passphrase', 'Passphrase'] : ['password', 'Password'];
  return html`<label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="password" autocomplete="current-password" required />`;
}
