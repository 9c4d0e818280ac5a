import type { FastifyInstance } from 'fastify';
import { document, html, nothing } from '../markup.ts';
import { maskedPhone, secondPhone } from '../second-factor.ts';
import type { SiteState } from '../state.ts';
import { queried, pendingOf, posted, show, signIn } from '../visit.ts';
import { methodPage } from './method-page.ts';
import { CARD_STYLES, passwordStep } from './password-step.ts';

const PATH = '/login/two-phones';
const CHOOSE = `${PATH}/choose`;
const CODE = `${PATH}/code`;

/** Password, then one of two phones, a phone call or a backup code; the page of the code does not say which it was. */
export function twoPhonesLogin(app: FastifyInstance, state: SiteState): void {
  passwordStep(app, state, { path: PATH, title: 'Sign in to continue', next: CHOOSE });

  app.get(CHOOSE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    return pending ? show(reply, choosePage(pending.user)) : reply.redirect(PATH, 303);
  });

  app.post(CHOOSE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    const to = posted(request, 'to');
    if (!pending || !to) return reply.redirect(PATH, 303);
    if (to === 'backup') return reply.redirect(`${CODE}?by=backup`, 303);
    state.messages.sendCode(
      'sms',
      pending.user,
      to === 'first' ? maskedPhone(pending.user) : secondPhone(pending.user),
    );
    return reply.redirect(CODE, 303);
  });

  app.get(CODE, (request, reply) => {
    if (!pendingOf(state, request, PATH)) return reply.redirect(PATH, 303);
    return show(reply, codePage(queried(request, 'by'), queried(request, 'wrong') !== ''));
  });

  app.post(CODE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    if (!pending) return reply.redirect(PATH, 303);
    const right = state.messages.redeemCode('sms', pending.user, posted(request, 'answer'));
    state.count(pending.user, PATH, 'code', right);
    if (!right) return reply.redirect(`${CODE}?wrong=1`, 303);
    return signIn(state, request, reply, pending.user, 'persistent');
  });
}

function choosePage(username: string): string {
  return methodPage(CHOOSE, 'to', [
    { value: 'first', title: 'Text message', detail: maskedPhone(username) },
    { value: 'second', title: 'Text message', detail: secondPhone(username) },
    { value: 'call', title: 'Phone call', detail: secondPhone(username) },
    { value: 'backup', title: 'Backup code', detail: 'One of those that you printed' },
  ]);
}

function codePage(by: string, wrong: boolean): string {
  return document(
    'Enter your code',
    CARD_STYLES,
    html`<div class="container">
      <div class="card">
        <h2>${by === 'backup' ? 'Enter a backup code' : 'Enter your code'}</h2>
        ${wrong ? html`<p class="alert alert-danger" role="alert">That code didn't work. Try again.</p>` : nothing}
        <form method="post" action="${CODE}">
          <label class="form-label" for="answer">Code</label>
          <input class="form-control" id="answer" name="answer" autocomplete="one-time-code" />
          <button class="btn btn-primary">Verify</button>
        </form>
      </div>
    </div>`,
  );
}
