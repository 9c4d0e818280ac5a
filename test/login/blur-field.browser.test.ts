import { afterAll, expect } from 'vitest';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import { startLoginOnSite, type LoginOnSite } from './login-on-site.ts';

/** Asks for the password once the name has lost the focus, and for nothing at the Return key. */
const AT_BLUR = `<h1>Sign in</h1><form><label>User name <input name="user"></label><div></div></form>
  <script>const form = document.querySelector('form');
  form.addEventListener('submit', (event) => event.preventDefault());
  form.user.addEventListener('blur', () => setTimeout(() => {
    form.querySelector('div').innerHTML = '<label>Password <input name="pass" type="password"></label><button>Sign in</button>';
  }, 300));</script>`;
/** Goes on at the Return key, to a page that complains of a field that was left. */
const AT_RETURN = `<h1>Sign in</h1><form action="/password"><label>Email <input name="user" ></label></form>`;
const PASSWORD = `<h1>Sign in</h1><form><label>Password <input name="pass" type="password" autofocus
  onblur="this.insertAdjacentHTML('afterend', '<p role=alert>A password is required.</p>')"></label><button>Sign in</button></form>`;

const stores = useStore();
let on: LoginOnSite;
it.beforeAll(async ({ service }) => {
  const pages = { '/at-blur': AT_BLUR, '/at-return': AT_RETURN };
  on = await startLoginOnSite(service, stores().store, {
    ...pages,
    '/password': PASSWORD,
  });
});
afterAll(() => on.close());

it.each(['/at-blur', '/at-return'])('reaches the password after a field without a button: %s', async (path) => {
  const outcome = await on.logIn(path);
  const { fields, website_error: error } =
    typeof outcome === 'string' ? { fields: [], website_error: outcome } : outcome.reading;
  expect(fields.map(({ type }) => type)).toContain('password');
  expect(error).toBeNull();
});
