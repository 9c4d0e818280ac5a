import type { FastifyInstance } from 'fastify';
import { document, html, nothing } from '../markup.ts';
import { checkTotp, maskedEmail, maskedPhone } from '../second-factor.ts';
import type { Pending, SiteState } from '../state.ts';
import { queried, pendingOf, posted, show, signIn } from '../visit.ts';
import { methodPage } from './method-page.ts';
import { CARD_STYLES, passwordStep } from './password-step.ts';

const PATH = '/login/mfa-choice';
const CHOOSE = `${PATH}/choose`;
const CODE = `${PATH}/code`;
const BOXES = 6;

/** Password, then a choice of three second factors, then a code in six boxes. */
export function mfaChoiceLogin(app: FastifyInstance, state: SiteState): void {
  passwordStep(app, state, { path: PATH, title: 'Sign in to continue', next: CHOOSE });

  app.get(CHOOSE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    return pending ? show(reply, choosePage(pending.user)) : reply.redirect(PATH, 303);
  });

  app.post(CHOOSE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    const method = METHODS.find((each) => each === posted(request, 'method'));
    if (!pending || !method) return reply.redirect(PATH, 303);
    pending.method = method;
    if (method !== 'totp') state.messages.sendCode(method, pending.user);
    return reply.redirect(CODE, 303);
  });

  app.get(CODE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    return pending?.method
      ? show(reply, codePage(pending, queried(request, 'wrong') !== ''))
      : reply.redirect(PATH, 303);
  });

  app.post(CODE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    if (!pending?.method) return reply.redirect(PATH, 303);
    const code = Array.from({ length: BOXES }, (_, index) => posted(request, `digit${index}`)).join('');
    const right =
      pending.method === 'totp'
        ? checkTotp(state, pending.user, code)
        : state.messages.redeemCode(pending.method, pending.user, code);
    state.count(pending.user, PATH, 'code', right);
    if (!right) return reply.redirect(`${CODE}?wrong=1`, 303);
    return signIn(state, request, reply, pending.user, 'persistent');
  });
}

const METHODS = ['sms', 'totp', 'email'] as const;

function choosePage(username: string): string {
  const methods = [
    { value: 'sms', title: 'Text message', detail: `Get a code by text message at ${maskedPhone(username)}` },
    { value: 'totp', title: 'Authenticator app', detail: 'Use the code from your authenticator app' },
    { value: 'email', title: 'Email', detail: `Get a code at ${maskedEmail(username)}` },
  ];
  return methodPage(CHOOSE, 'method', methods, html`<a href="${PATH}">Back</a>`);
}

function codePage(pending: Pending, wrong: boolean): string {
  const where =
    pending.method === 'sms'
      ? `We sent a text message with a code to ${maskedPhone(pending.user)}.`
      : pending.method === 'email'
        ? `We sent an email with a code to ${maskedEmail(pending.user)}.`
        : 'Enter the code from your authenticator app.';
  const boxes = Array.from(
    { length: BOXES },
    (_, index) =>
      html`<input
        class="box"
        name="digit${index}"
        type="text"
        inputmode="numeric"
        maxlength="1"
        autocomplete="off"
        aria-label="Digit ${index + 1} of ${BOXES}"
      />`,
  );
  return document(
    'Enter your code',
    `${CARD_STYLES} .boxes { display: flex; gap: 8px; margin-bottom: 16px; } .box { width: 40px; height: 44px; text-align: center; font: inherit; }`,
    html`<div class="container">
        <div class="card">
          <h2>Enter your code</h2>
          <p>${where}</p>
          ${wrong ? html`<p class="alert alert-danger" role="alert">That code didn't work. Try again.</p>` : nothing}
          <form method="post" action="${CODE}">
            <div class="boxes">${boxes}</div>
            <button class="btn btn-primary">Verify</button>
          </form>
          <a href="${CHOOSE}">Try another way</a>
        </div>
      </div>
      <script>
        const boxes = [...document.querySelectorAll('.box')];
        boxes.forEach((box, index) =>
          box.addEventListener('input', () => {
            if (box.value) boxes[index + 1]?.focus();
          }),
        );
      </script>`,
  );
}
