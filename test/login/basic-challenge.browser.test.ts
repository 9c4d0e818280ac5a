import { afterAll, expect } from 'vitest';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import { FORM, startLoginOnSite, type LoginOnSite } from './login-on-site.ts';

/** Sends its login with HTTP Basic authentication, as RabbitMQ's management page does. */
const BY_BASIC =
  FORM(`<p id="said"></p><script>document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const authorization = 'Basic ' + btoa(user.value + ':' + pass.value);
  const { ok } = await fetch('/whoami', { headers: { authorization } });
  said.textContent = ok ? 'Welcome' : 'Login failed: wrong user name or password';
});</script>`);

/** Asks who the visitor is with what an earlier login left, before it draws anything. */
const WITH_STALE_PASSWORD = `<body><script>const asked = new XMLHttpRequest();
  asked.open('GET', '/whoami', false);
  asked.setRequestHeader('authorization', 'Basic b2xk');
  asked.send();
  document.body.innerHTML = asked.status === 401 ? '${FORM().replaceAll('\n', '')}' : '<h1>Queues</h1>';</script>`;

const stores = useStore();
let login: LoginOnSite | undefined;
afterAll(async () => {
  await login?.close();
});

it('reads the refusal of a page that logs in with HTTP Basic authentication', async ({ service }) => {
  login = await startLoginOnSite(service, stores().store, {
    '/form': BY_BASIC,
    '/stale': WITH_STALE_PASSWORD,
    '/whoami': (_request, response) => {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="Management"' }).end();
    },
  });
  const seen = await login.logIn('/form');
  expect(seen).toMatchObject({
    reading: { kind: 'form', website_error: 'Login failed: wrong user name or password' },
  });

  const page = await login.deps.pages.of('p', login.sessionId);
  await page.goto(`${login.site.origin}/stale`);
  expect(await readLogin(page)).toMatchObject({ kind: 'form' });
});
