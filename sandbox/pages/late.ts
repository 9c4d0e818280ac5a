import type { FastifyInstance } from 'fastify';
import { document, html } from '../markup.ts';
import type { SiteState } from '../state.ts';
import { checkPassword, posted, SESSION_COOKIE, sessionCookie, show, visitor } from '../visit.ts';

const PATH = '/login/late';
const API_PATH = '/api/session';

/** Delay before the script builds the form, like a slow bundle, in milliseconds. */
const LATE_MS = 1_000;

/** A single-page application: the fields are rendered late, without a form element, and posted as JSON. */
export function lateLogin(app: FastifyInstance, state: SiteState): void {
  app.get(PATH, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(
      reply,
      document(
        'Workspace',
        STYLES,
        html`<div id="root"><div class="spinner">Loading…</div></div>
          ${SCRIPT}`,
      ),
    );
  });

  app.post(API_PATH, (request, reply) => {
    const user = checkPassword(state, PATH, posted(request, 'login'), posted(request, 'password'), true);
    if (!user) return reply.code(401).send({ error: 'The email or password you entered is wrong.' });
    void reply.setCookie(SESSION_COOKIE, state.openSession(user.username), sessionCookie('persistent'));
    return reply.send({ next: '/account' });
  });
}

const STYLES = `
body { font: 14px/1.5 Inter, system-ui, sans-serif; margin: 0; background: #111827; color: #f9fafb; }
.panel { max-width: 320px; margin: 80px auto; }
.control { display: flex; flex-direction: column; margin-bottom: 16px; }
.control input { padding: 10px; border-radius: 6px; border: 1px solid #4b5563; background: #1f2937; color: inherit; }
.cta { width: 100%; padding: 10px; border: 0; border-radius: 6px; background: #6366f1; color: #fff; }
.cta[disabled] { opacity: .5; }
.toast { color: #f87171; min-height: 1.5em; }`;

const SCRIPT = html`<script>
  (() => {
    const render = () => {
      const root = document.getElementById('root');
      root.innerHTML =
        '<div class="panel"><h2>Log in to your workspace</h2>' +
        '<div class="control"><span>Email</span><input id=":r1:" type="text" placeholder="you@example.com" autocomplete="email"></div>' +
        '<div class="control"><span>Password</span><input id=":r2:" type="password" placeholder="Password"></div>' +
        '<div class="toast" aria-live="polite"></div>' +
        '<button type="button" class="cta" disabled>Log in</button></div>';
      const [login, password] = root.querySelectorAll('input');
      const button = root.querySelector('button');
      const toast = root.querySelector('.toast');
      root.addEventListener('input', () => {
        button.disabled = !(login.value && password.value);
      });
      const send = async () => {
        button.disabled = true;
        const answer = await fetch('${API_PATH}', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ login: login.value, password: password.value }),
        });
        const body = await answer.json();
        if (answer.ok) {
          location.assign(body.next);
          return;
        }
        toast.textContent = body.error;
        button.disabled = false;
      };
      button.addEventListener('click', send);
      root.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && !button.disabled) send();
      });
    };
    setTimeout(render, ${LATE_MS});
  })();
</script>`;
