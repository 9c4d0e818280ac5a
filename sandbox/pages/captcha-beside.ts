import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, nothing, type Html } from '../markup.ts';
import type { CaptchaBeside, SiteState } from '../state.ts';
import { findUser } from '../users.ts';
import { checkPassword, posted, show, signIn } from '../visit.ts';

const PATH = '/login/captcha-beside';
const KEY = '6LSandboxPracticeBeside00000000000000000';
const FIELD = 'g-recaptcha-response';

/**
 * User name and password with a captcha next to them, whose behavior is a test control. Without its response the site rejects the login
 * and says so.
 * @param tickPath where the checkbox gets its response.
 * @param redeem accepts a response for a site key once.
 */
export function captchaBeside(
  app: FastifyInstance,
  state: SiteState,
  tickPath: string,
  redeem: (answer: string, siteKey: string) => boolean,
): void {
  app.get(PATH, (_request, reply) => {
    const beside = state.captchaBeside;
    if (beside === 'framed') return show(reply, framed());
    return show(reply, page(beside === 'later' ? null : beside, tickPath, '', ''));
  });
  app.get(`${PATH}/form`, (_request, reply) => show(reply, page('tick', tickPath, '', '')));

  app.post(PATH, (request, reply) => {
    const username = posted(request, 'username');
    const beside = state.captchaBeside;
    const shown = beside === 'framed' || beside === 'later' ? 'tick' : beside;
    if (!redeem(posted(request, FIELD), KEY)) {
      if (posted(request, 'password') !== '')
        state.count(findUser(username)?.username ?? username, PATH, 'password', false);
      return show(reply, page(shown, tickPath, username, 'Please confirm that you are not a robot.'));
    }
    const user = checkPassword(state, PATH, username, posted(request, 'password'), true);
    return user
      ? signIn(state, request, reply, user.username, 'persistent')
      : show(reply, page(shown, tickPath, username, 'Incorrect username or password.'), 401);
  });
}

function framed(): string {
  return document(
    'Sign in - Sandbox',
    BASE_STYLES,
    html`<main><iframe src="${PATH}/form" title="Sign in" width="340" height="420" style="border: 0"></iframe></main>`,
  );
}

function page(
  beside: Exclude<CaptchaBeside, 'framed' | 'later'> | null,
  tickPath: string,
  username: string,
  error: string,
): string {
  return document(
    'Sign in - Sandbox',
    BASE_STYLES,
    html`<main>
        <h1>Sign in</h1>
        ${error ? html`<div role="alert" style="color: #c0392b">${error}</div>` : nothing}
        <form method="post" action="${PATH}" target="_top">
          <label for="username">Username</label>
          <input id="username" name="username" autocomplete="username" value="${username}" />
          <label for="password">Password</label>
          <input id="password" name="password" type="password" autocomplete="current-password" />
          ${beside === null ? nothing : widget(beside)}
          <p><button type="submit">Sign in</button></p>
        </form>
      </main>
      <script>
        const widget = document.querySelector('.g-recaptcha');
        const answer = async () => {
          const said = await fetch('${tickPath}', { method: 'POST', body: new URLSearchParams({ key: '${KEY}' }) });
          widget.querySelector('[type=hidden]').value = (await said.json()).answer;
        };
        document.getElementById('tick')?.addEventListener('change', (event) => {
          if (event.isTrusted) void answer();
        });
        if (widget?.dataset.answers === 'itself') setTimeout(answer, 700);
        if (widget?.dataset.size === 'invisible')
          document.forms[0].addEventListener('submit', async (event) => {
            event.preventDefault();
            await answer();
            event.target.submit();
          });
        document.getElementById('password').addEventListener('input', () => {
          if (widget !== null) widget.hidden = false;
        });
      </script>`,
  );
}

function widget(beside: Exclude<CaptchaBeside, 'framed' | 'later'>): Html {
  const answer = html`<input type="hidden" name="${FIELD}" />`;
  const tick = html`<label><input type="checkbox" id="tick" /> I'm not a robot</label>`;
  switch (beside) {
    case 'tick':
      return html`<div class="g-recaptcha" data-sitekey="${KEY}">${tick}${answer}</div>`;
    case 'keyless':
      return html`<div class="g-recaptcha">${tick}${answer}</div>`;
    case 'typed':
      return html`<div class="g-recaptcha" hidden>${tick}${answer}</div>`;
    case 'itself':
      return html`<div class="g-recaptcha" data-sitekey="${KEY}" data-answers="itself">One moment…${answer}</div>`;
    case 'unseen':
      return html`<div class="g-recaptcha" data-sitekey="${KEY}" data-size="invisible">${answer}</div>`;
  }
}
