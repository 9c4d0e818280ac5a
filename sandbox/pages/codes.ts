import type { FastifyInstance } from 'fastify';
import { document, html, nothing, type Html } from '../markup.ts';
import { checkTotp, maskedPhone } from '../second-factor.ts';
import type { SiteState } from '../state.ts';
import { pendingOf, posted, show, signIn } from '../visit.ts';
import { CARD_STYLES, passwordStep } from './password-step.ts';

/** Password, then a code from an authenticator app. */
export function totpLogin(app: FastifyInstance, state: SiteState): void {
  const path = '/login/totp';
  const next = `${path}/code`;
  passwordStep(app, state, { path, title: 'Log in', next });
  codePage(app, state, {
    path,
    next,
    title: 'Two-factor authentication',
    ask: () => html`<p>Open your authenticator app and enter the 6-digit code that it shows.</p>`,
    label: 'Authentication code',
    field: html`name="otp_attempt" id="otp_attempt" autocomplete="one-time-code" inputmode="numeric" pattern="[0-9]*"`,
    fieldName: 'otp_attempt',
    error: 'Invalid two-factor code.',
    check: (username, code) => checkTotp(state, username, code),
    landing: '/account',
  });
}

/** Password, then a code by text message (see `GET /test/sms?user=`). */
export function smsLogin(app: FastifyInstance, state: SiteState): void {
  const path = '/login/sms';
  passwordStep(app, state, {
    path,
    title: 'Sign in',
    next: `${path}/code`,
    begin: (username) => state.messages.sendCode('sms', username),
  });
  smsCodePage(app, state, path, '/account');
  app.post(`${path}/resend`, (request, reply) => {
    const pending = pendingOf(state, request, path);
    if (pending) state.messages.sendCode('sms', pending.user);
    return reply.redirect(pending ? `${path}/code` : path, 303);
  });
}

/** The page at `{path}/code` that asks for the sent code; the correct one leads to `landing`. */
export function smsCodePage(app: FastifyInstance, state: SiteState, path: string, landing: string): void {
  const next = `${path}/code`;
  codePage(app, state, {
    path,
    next,
    title: 'Check your phone',
    ask: (username) =>
      html`<p>
        We sent a text message with a 6-digit code to ${maskedPhone(username)}. It may take a minute to arrive.
      </p>`,
    label: 'Code',
    field: html`name="code" type="tel" maxlength="6" autocomplete="one-time-code" placeholder="123456"`,
    fieldName: 'code',
    error: 'That code is wrong or has expired.',
    check: (username, code) => state.messages.redeemCode('sms', username, code.trim()),
    landing,
  });
}

interface CodePage {
  readonly path: string;
  readonly next: string;
  readonly title: string;
  readonly ask: (username: string) => Html;
  readonly label: string;
  readonly field: Html;
  readonly fieldName: string;
  readonly error: string;
  readonly check: (username: string, code: string) => boolean;
  readonly landing: string;
}

function codePage(app: FastifyInstance, state: SiteState, step: CodePage): void {
  const render = (username: string, error: string): string =>
    document(
      step.title,
      CARD_STYLES,
      html`<div class="container">
        <div class="card">
          <h2>${step.title}</h2>
          ${step.ask(username)}
          <form action="${step.next}" method="post">
            <div class="mb-3">
              <label class="form-label" for="${step.fieldName}">${step.label}</label>
              <input
                class="form-control${error ? ' is-invalid' : ''}"
                id="${step.fieldName}"
                ${step.field}
                ${error ? html`aria-invalid="true"` : nothing}
                aria-describedby="code-feedback"
              />
              ${error ? html`<div class="invalid-feedback" id="code-feedback">${error}</div>` : html`<div class="form-text" id="code-feedback">The code has 6 digits.</div>`}
            </div>
            <button class="btn btn-primary" type="submit">Verify</button>
            <a class="btn btn-link" href="${step.path}">Cancel</a>
          </form>
          ${step.path === '/login/sms' ? html`<form action="/login/sms/resend" method="post"><button class="btn btn-link">Resend code</button></form>` : nothing}
        </div>
      </div>`,
    );

  app.get(step.next, (request, reply) => {
    const pending = pendingOf(state, request, step.path);
    return pending ? show(reply, render(pending.user, '')) : reply.redirect(step.path, 303);
  });

  app.post(step.next, (request, reply) => {
    const pending = pendingOf(state, request, step.path);
    if (!pending) return reply.redirect(step.path, 303);
    const right = step.check(pending.user, posted(request, step.fieldName));
    state.count(pending.user, step.path, 'code', right);
    if (!right) return show(reply, render(pending.user, step.error), 422);
    return signIn(state, request, reply, pending.user, 'persistent', step.landing);
  });
}
