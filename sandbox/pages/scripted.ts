import type { FastifyInstance } from 'fastify';
import { BASE_STYLES, document, html, type Html } from '../markup.ts';
import { checkTotp } from '../second-factor.ts';
import type { SiteState } from '../state.ts';
import { checkPassword, posted, SESSION_COOKIE, sessionCookie, show, visitor } from '../visit.ts';

const MODAL = '/login/modal';
const FORGETFUL = '/login/forgetful';
const BESIDE = '/login/code-beside';

/** A login in a modal dialog. The session is a token stored by the page's script, not a cookie. */
export function modalLogin(app: FastifyInstance, state: SiteState): void {
  app.get(MODAL, (_request, reply) =>
    show(
      reply,
      document(
        'Package registry',
        BASE_STYLES,
        html`<div id="root"></div>
          ${MODAL_SCRIPT}`,
      ),
    ),
  );
  app.post('/api/modal/session', (request, reply) => {
    const user = checkPassword(state, MODAL, posted(request, 'login'), posted(request, 'password'), true);
    if (!user) return reply.code(401).send({ error: 'Wrong user name or password.' });
    return reply.send({ token: state.openSession(user.username) });
  });
  app.get('/api/modal/session', (request, reply) => {
    const user = state.sessionUser(request.headers.authorization);
    return user ? reply.send({ name: user.name }) : reply.code(401).send({ error: 'Nobody is signed in.' });
  });
}

/** A login whose token exists only in the page's memory: every later browser must sign in again. */
export function forgetfulLogin(app: FastifyInstance, state: SiteState): void {
  app.get(FORGETFUL, (_request, reply) =>
    show(
      reply,
      document(
        'Terminal',
        BASE_STYLES,
        html`<div id="root"></div>
          ${FORGETFUL_SCRIPT}`,
      ),
    ),
  );
  app.post('/api/forgetful', (request, reply) => {
    const user = checkPassword(state, FORGETFUL, posted(request, 'login'), posted(request, 'password'), true);
    if (!user) return reply.code(401).send({ error: 'Wrong user name or password.' });
    void reply.setCookie('terminal_last_user', user.username, { path: '/', maxAge: 86_400 });
    return reply.send({ name: user.name });
  });
}

/** A form that shows a code field once the password is accepted, and hides it when other fields change. */
export function codeBesideLogin(app: FastifyInstance, state: SiteState): void {
  app.get(BESIDE, (request, reply) => {
    if (visitor(state, request)) return reply.redirect('/account', 303);
    return show(reply, document('Sign in', BASE_STYLES, BESIDE_FORM));
  });
  app.post('/api/code-beside', (request, reply) => {
    const code = posted(request, 'code');
    const user = checkPassword(state, BESIDE, posted(request, 'login'), posted(request, 'password'), false);
    if (!user) return reply.code(401).send({ error: 'These details are not right.' });
    if (code === '') return reply.send({ wants: 'code' });
    const right = checkTotp(state, user.username, code);
    state.count(user.username, BESIDE, 'code', right);
    if (!right) return reply.code(401).send({ error: 'This code is not right.', wants: 'code' });
    void reply.setCookie(SESSION_COOKIE, state.openSession(user.username), sessionCookie('persistent'));
    return reply.send({ next: '/account' });
  });
}

const MODAL_SCRIPT: Html = html`<script>
  (async () => {
    const root = document.getElementById('root');
    const token = localStorage.getItem('registry-token');
    const answer = token && (await fetch('/api/modal/session', { headers: { authorization: token } }));
    const known = answer && answer.ok ? await answer.json() : null;
    root.innerHTML =
      '<header><strong>Package registry</strong>' +
      (known ? '<span>' + known.name + '</span>' : '<button id="open">Log in</button>') +
      '</header><main><h1>Packages</h1><p>Nothing has been published yet.</p></main>';
    if (known) return;
    document.getElementById('open').addEventListener('click', () => {
      const dialog = document.createElement('div');
      dialog.setAttribute('role', 'dialog');
      dialog.innerHTML =
        '<form><label>User name <input name="login"></label><label>Password <input type="password" name="password"></label>' +
        '<p class="error" role="alert"></p><button>Log in</button></form>';
      document.body.append(dialog);
      dialog.querySelector('form').addEventListener('submit', async (event) => {
        event.preventDefault();
        const fields = Object.fromEntries(new FormData(event.target));
        const sent = await fetch('/api/modal/session', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(fields),
        });
        const body = await sent.json();
        if (!sent.ok) {
          dialog.querySelector('.error').textContent = body.error;
          return;
        }
        localStorage.setItem('registry-token', body.token);
        location.reload();
      });
    });
  })();
</script>`;

const FORGETFUL_SCRIPT: Html = html`<script>
  (() => {
    const root = document.getElementById('root');
    root.innerHTML =
      '<main><h1>Log in</h1><form><label>User name <input name="login" autocomplete="username"></label>' +
      '<label>Password <input type="password" name="password" autocomplete="current-password"></label>' +
      '<p class="error" role="alert"></p><button>Log in</button></form></main>';
    root.querySelector('form').addEventListener('submit', async (event) => {
      event.preventDefault();
      const sent = await fetch('/api/forgetful', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(Object.fromEntries(new FormData(event.target))),
      });
      const body = await sent.json();
      if (!sent.ok) {
        root.querySelector('.error').textContent = body.error;
        return;
      }
      history.pushState(null, '', '${FORGETFUL}#desk');
      root.innerHTML = '<header><strong></strong><button>Sign out</button></header><main><h1>Your desk</h1></main>';
      root.querySelector('strong').textContent = body.name;
    });
  })();
</script>`;

const BESIDE_FORM: Html = html`<main>
    <h1>Sign in</h1>
    <form>
      <label>E-mail <input type="email" name="login" autocomplete="username" /></label>
      <label>Password <input type="password" name="password" autocomplete="current-password" /></label>
      <div id="code"></div>
      <p class="error" role="alert"></p>
      <button>Sign in</button>
    </form>
  </main>
  <script>
    (() => {
      const form = document.querySelector('form');
      const place = document.getElementById('code');
      form.addEventListener('input', ({ target }) => {
        if (target.name !== 'code') place.innerHTML = '';
      });
      form.addEventListener('submit', async (event) => {
        event.preventDefault();
        const sent = await fetch('/api/code-beside', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(Object.fromEntries(new FormData(form))),
        });
        const body = await sent.json();
        form.querySelector('.error').textContent = body.error || '';
        if (body.next) location.assign(body.next);
        if (body.wants)
          place.innerHTML =
            '<label>Code of your authenticator app <input name="code" autocomplete="one-time-code" inputmode="numeric"></label>';
      });
    })();
  </script>`;
