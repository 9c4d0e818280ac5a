import type { FastifyInstance } from 'fastify';
import { encodeQR } from 'qr';
import { document, html, nothing, type Html } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { pendingOf, posted, show, signIn } from '../visit.ts';
import { CARD_STYLES, passwordStep } from './password-step.ts';

const PATH = '/login/enrol';
const CODE = `${PATH}/authenticator`;

/** Password, then the setup of a new authenticator on the first login, and its code on later ones. */
export function enrolLogin(app: FastifyInstance, state: SiteState): void {
  passwordStep(app, state, { path: PATH, title: 'Sign in', next: CODE });

  app.get(CODE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    return pending ? show(reply, page(state, pending.user, false)) : reply.redirect(PATH, 303);
  });

  app.post(CODE, (request, reply) => {
    const pending = pendingOf(state, request, PATH);
    if (!pending) return reply.redirect(PATH, 303);
    const right =
      !state.authenticators.shouldRefuse(pending.user) &&
      state.authenticators.enrol(pending.user, posted(request, 'app_code'));
    state.count(pending.user, PATH, 'code', right);
    if (!right) return show(reply, page(state, pending.user, true), 422);
    return signIn(state, request, reply, pending.user, 'persistent');
  });
}

function page(state: SiteState, username: string, wrong: boolean): string {
  const secret = state.authenticators.isEnrolled(username) ? null : state.authenticators.offeredSecret(username);
  return document(
    'Two-factor authentication',
    CARD_STYLES,
    html`<div class="container">
      <div class="card">
        <h2>${secret === null ? 'Two-factor authentication' : 'Set up your authenticator app'}</h2>
        ${wrong ? html`<p class="alert alert-danger" role="alert">That code is wrong. Try again.</p>` : nothing}
        ${
          secret === null
            ? html`<p>Enter the code that your authenticator app shows.</p>`
            : html`<p>Your company requires an authenticator app. Scan the QR code with it.</p>
                ${keyOf(state, username, secret)}`
        }
        <form method="post" action="${CODE}">
          <label class="form-label" for="app_code">Authentication code</label>
          <input class="form-control" id="app_code" name="app_code" inputmode="numeric" autocomplete="one-time-code" />
          <button class="btn btn-primary">Verify</button>
        </form>
      </div>
    </div>`,
  );
}

/** The key as text, or as a QR code. */
function keyOf(state: SiteState, username: string, secret: string): Html {
  const link = `otpauth://totp/Sandbox:${username}?secret=${secret}&issuer=Sandbox&period=${state.authenticators.periodOf(username)}`;
  switch (state.keyShown) {
    case 'text':
      return html`<p>
        Can't scan it? Enter this setup key in your authenticator app:
        <code>${(secret.match(/.{1,4}/g) ?? []).join(' ')}</code>
      </p>`;
    case 'img':
      return html`<p><img src="${encodeQR(link, 'data-url')}" width="200" height="200" alt="" /></p>`;
    case 'svg':
      return html`<p style="width: 200px">${{ html: encodeQR(link, 'svg') }}</p>`;
    case 'canvas': {
      const rows = encodeQR(link, 'raw');
      return html`<canvas id="key" width="${rows.length * 4}" height="${rows.length * 4}"></canvas>
        <script>
          const pen = document.getElementById('key').getContext('2d');
          const rows = ${{ html: JSON.stringify(rows) }};
          rows.forEach((row, y) =>
            row.forEach((dark, x) => {
              pen.fillStyle = dark ? '#000' : '#fff';
              pen.fillRect(x * 4, y * 4, 4, 4);
            }),
          );
        </script>`;
    }
  }
}
