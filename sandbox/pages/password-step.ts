import type { FastifyInstance } from 'fastify';
import { document, html, nothing } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { beginPending, checkPassword, posted, show, visitor } from '../visit.ts';

/** A page that asks for user name and password before another step. */
interface PasswordStep {
  readonly path: string;
  readonly title: string;
  /** Where the correct password leads. */
  readonly next: string;
  /** Runs after the correct password and before the next page, for example to send a code. */
  readonly begin?: (username: string, pendingId: string) => void;
}

/** User name and password on one page, styled like a common CSS framework. The caller provides the next page. */
export function passwordStep(app: FastifyInstance, state: SiteState, step: PasswordStep): void {
  app.get(step.path, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, page(step, '', ''));
  });

  app.post(step.path, (request, reply) => {
    const login = posted(request, 'user[login]');
    const user = checkPassword(state, step.path, login, posted(request, 'user[password]'), false);
    if (!user) return show(reply, page(step, login, state.lockOutMessage(login) ?? 'Invalid login or password.'), 401);
    const id = beginPending(state, reply, user.username, step.path, true);
    step.begin?.(user.username, id);
    return reply.redirect(step.next, 303);
  });
}

/** Styles shared by these pages. */
export const CARD_STYLES = `
body { font: 16px/1.5 "Helvetica Neue", Arial, sans-serif; background: #f8f9fa; margin: 0; }
.container { max-width: 400px; margin: 60px auto; }
.card { background: #fff; border: 1px solid rgba(0,0,0,.125); border-radius: 4px; padding: 20px; }
.mb-3 { margin-bottom: 16px; }
.form-label { display: inline-block; margin-bottom: 8px; }
.form-control { display: block; width: 100%; box-sizing: border-box; padding: 6px 12px; font: inherit; border: 1px solid #ced4da; border-radius: 4px; }
.is-invalid { border-color: #dc3545; }
.invalid-feedback { color: #dc3545; font-size: 14px; }
.form-text { color: #6c757d; font-size: 14px; }
.alert { padding: 12px 16px; border-radius: 4px; margin-bottom: 16px; }
.alert-danger { color: #842029; background: #f8d7da; }
.alert-info { color: #055160; background: #cff4fc; }
.btn { display: inline-block; padding: 6px 12px; border: 1px solid transparent; border-radius: 4px; font: inherit; cursor: pointer; }
.btn-primary { color: #fff; background: #0d6efd; }
.btn-link { background: none; color: #0d6efd; }
.list-group { list-style: none; padding: 0; }
.list-group-item { display: block; width: 100%; text-align: left; padding: 12px; border: 1px solid #dee2e6; background: #fff; }`;

function page(step: PasswordStep, login: string, error: string): string {
  return document(
    step.title,
    CARD_STYLES,
    html`<div class="container">
      <div class="card">
        <h2>${step.title}</h2>
        ${error ? html`<div class="alert alert-danger">${error}</div>` : nothing}
        <form class="new_user" id="new_user" action="${step.path}" accept-charset="UTF-8" method="post">
          <input type="hidden" name="authenticity_token" value="practice" />
          <div class="mb-3">
            <label class="form-label" for="user_login">Username or email</label>
            <input
              class="form-control"
              type="text"
              autofocus="autofocus"
              name="user[login]"
              id="user_login"
              value="${login}"
            />
          </div>
          <div class="mb-3">
            <label class="form-label" for="user_password">Password</label>
            <input
              class="form-control"
              type="password"
              autocomplete="current-password"
              name="user[password]"
              id="user_password"
            />
          </div>
          <div class="mb-3">
            <input type="checkbox" value="1" name="user[remember_me]" id="user_remember_me" />
            <label for="user_remember_me">Remember me</label>
          </div>
          <input type="submit" name="commit" value="Log in" class="btn btn-primary" data-disable-with="Log in" />
        </form>
        <a href="/register">Sign up</a> <a href="/help/password">Forgot your password?</a>
      </div>
    </div>`,
  );
}
