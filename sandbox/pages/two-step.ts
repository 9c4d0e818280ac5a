import type { FastifyInstance } from 'fastify';
import { document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { findUser } from '../users.ts';
import { beginPending, checkPassword, pendingOf, posted, show, signIn, visitor } from '../visit.ts';

const PATH = '/login/two-step';
const PASSWORD_PATH = `${PATH}/password`;

/** E-mail first, password on the next page. Responds with 200 even to a wrong password; the cookie is a session cookie. */
export function twoStepLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, identifierPage('', ''));
  });

  app.post(PATH, (request, reply) => {
    const identifier = posted(request, 'identifier');
    const user = findUser(identifier);
    state.count(user?.username ?? identifier, PATH, 'identifier', user ? undefined : false);
    if (!user) return show(reply, identifierPage(identifier, "Couldn't find your account."));
    beginPending(state, reply, user.username, PATH, false);
    return reply.redirect(PASSWORD_PATH, 303);
  });

  app.get(PASSWORD_PATH, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    if (!pending) return reply.redirect(PATH, 303);
    return show(reply, passwordPage(pending.user, ''));
  });

  app.post(PASSWORD_PATH, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    if (!pending) return reply.redirect(PATH, 303);
    const user = checkPassword(state, PATH, pending.user, posted(request, 'Passwd'), true);
    if (!user) return show(reply, passwordPage(pending.user, 'Wrong password. Try again or choose another way.'));
    return signIn(state, request, reply, user.username, 'session-only');
  });
}

const STYLES = `
body { font: 15px/1.6 Roboto, Arial, sans-serif; background: #f0f4f9; margin: 0; display: grid; place-items: center; min-height: 100vh; }
.card { background: #fff; border-radius: 28px; padding: 36px; width: 400px; box-sizing: border-box; }
.field { position: relative; margin: 1.5rem 0 .25rem; }
.field input { width: 100%; box-sizing: border-box; padding: 14px; border: 1px solid #747775; border-radius: 4px; font: inherit; }
.field label { position: absolute; left: 12px; top: -10px; background: #fff; padding: 0 4px; color: #444746; font-size: 12px; }
.problem { color: #b3261e; font-size: 13px; }
.row { display: flex; justify-content: space-between; align-items: center; margin-top: 2rem; }
.chip { display: inline-block; border: 1px solid #c4c7c5; border-radius: 16px; padding: 0 12px; }
.primary { background: #0b57d0; color: #fff; border: 0; border-radius: 20px; padding: 10px 24px; }
.plain { background: none; border: 0; color: #0b57d0; }`;

function identifierPage(identifier: string, error: string): string {
  return document(
    'Sign in',
    STYLES,
    html`<div class="card">
      <h1>Sign in</h1>
      <p>Use your Sandbox account</p>
      <form method="post" action="${PATH}" novalidate>
        <div class="field">
          <input
            type="email"
            id="identifierId"
            name="identifier"
            autocomplete="username webauthn"
            spellcheck="false"
            aria-label="Email or username"
            aria-describedby="identifier-problem"
            value="${identifier}"
            ${error ? html`aria-invalid="true"` : nothing}
          />
          <label for="identifierId">Email or username</label>
        </div>
        <div class="problem" id="identifier-problem" aria-live="polite">${error}</div>
        <p><button type="button" class="plain">Forgot email?</button></p>
        <div class="row"><a href="/register">Create account</a><button class="primary">Next</button></div>
      </form>
    </div>`,
  );
}

function passwordPage(username: string, error: string): string {
  return document(
    'Sign in',
    STYLES,
    html`<div class="card">
      <h1>Welcome</h1>
      <p>
        <span class="chip">${username}@sandbox.test</span>
        <a href="${PATH}">Not you?</a>
      </p>
      <form method="post" action="${PASSWORD_PATH}" novalidate>
        <input
          type="email"
          name="identifier"
          value="${username}@sandbox.test"
          autocomplete="username"
          tabindex="-1"
          aria-hidden="true"
          style="position:absolute;left:-9999px"
        />
        <div class="field">
          <input
            type="password"
            name="Passwd"
            autocomplete="current-password"
            spellcheck="false"
            aria-label="Enter your password"
            aria-describedby="password-problem"
            ${error ? html`aria-invalid="true"` : nothing}
          />
          <label aria-hidden="true">Enter your password</label>
        </div>
        <div class="problem" id="password-problem" aria-live="polite">${error}</div>
        <label><input type="checkbox" /> Show password</label>
        <div class="row"><a href="/help/password">Forgot password?</a><button class="primary">Next</button></div>
      </form>
    </div>`,
  );
}
