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
/** A refusal of an earlier answer stays below the dialog of the next step. */
const OLD_ERROR = `<h1>Sign in</h1><p role="alert">Login or password is invalid.</p><form><label>Email <input name="user"></label>
  <label>Password <input name="pass" type="password"></label><button>Sign in</button></form><div role="dialog" hidden
  style="position: fixed; top: 0; background: white"><h2>Verify</h2><form><label>Authentication code <input name="code"></label><button>Verify</button></form></div>
  <script>document.forms[0].addEventListener('submit', (event) => {
    event.preventDefault();
    document.querySelector('[role=dialog]').hidden = false;
  });</script>`;

const stores = useStore();
let on: LoginOnSite;
it.beforeAll(async ({ service }) => {
  const pages = { '/at-blur': AT_BLUR, '/at-return': AT_RETURN };
  on = await startLoginOnSite(service, stores().store, {
    ...pages,
    '/password': PASSWORD,
    '/old-error': OLD_ERROR,
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

it('tells no earlier error for the next step', async () => {
  const outcome = await on.logIn('/old-error');
  if (typeof outcome === 'string') throw new Error(outcome);
  const { fields, website_error: error } = outcome.reading;
  expect([fields.map(({ name }) => name), error]).toEqual([['code'], null]);
});
