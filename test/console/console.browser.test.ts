import { TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSignInCode } from '../../store/administrator.ts';
import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import { loadConsoleAssets } from '../../api/console/assets.ts';
import { useService } from '../api/service-fixture.ts';
import { DESKTOP, PHONE } from '../hosted/visit.ts';
import { loginInteraction } from '../api/fake-connections.ts';
import { axeComplaints } from './axe.ts';
import { type ConsoleVisits, openConsole } from './visit.ts';

const fixture = useService();
let visits: ConsoleVisits;
beforeAll(async () => {
  visits = await openConsole(fixture());
});
afterAll(() => visits.close());

test('a proxy is added, checked, renamed and deleted; errors are shown at their fields', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console`);
  await page.getByRole('link', { name: 'Proxies' }).click();
  await page.getByRole('heading', { name: 'No proxies yet' }).waitFor();
  await visits.shot(page, 'proxies-empty');
  await page.getByRole('button', { name: 'Add a proxy' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Office');
  await page.getByLabel('Host', { exact: true }).fill('http://proxy.example');
  await page.getByLabel('Port').fill('8080');
  await visits.shot(page, 'proxies-form');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a proxy' }).click();
  await page.getByText('must be a host name or an address').first().waitFor();
  await visits.shot(page, 'proxies-fault');
  await page.getByLabel('Host', { exact: true }).fill('proxy.example');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a proxy' }).click();
  await page.getByRole('link', { name: 'Office' }).click();
  await page.getByRole('button', { name: 'Check now' }).click();
  await page.getByText('available', { exact: true }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'proxy');
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No proxies yet' }).waitFor();
  await finish();
});

test('the first visit leads to a login, and the overview counts its result', async () => {
  const { connections, call } = fixture();
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console`);
  await page.getByRole('heading', { name: 'Keep your first site logged in' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'overview-first');
  await page.getByRole('button', { name: 'Add a site' }).click();
  await page.getByLabel('Site', { exact: true }).fill('shop.example');
  await page.getByLabel('Profile').fill('ann');
  // By the keyboard alone from here to the link.
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Needs a first login by a person' }).waitFor();
  const id = page.url().split('/').at(-1) ?? '';
  await page.getByRole('button', { name: 'Log in', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Open the login page' }).waitFor();
  expect(await page.getByLabel('Link', { exact: true }).inputValue()).toContain(`/login/${id}?`);
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'login-link');
  await page.keyboard.press('Escape');
  // What the flow does comes by the event stream.
  await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction: loginInteraction() });
  await page.getByRole('heading', { name: 'A login is running: waiting for input' }).waitFor();
  await page.getByText('waiting for someone').waitFor();
  const running = page.locator('.step-times li').filter({ hasText: 'waiting for input' });
  await running.getByText(/\d/).waitFor();
  await visits.shot(page, 'connection-waiting');

  const now = Date.now();
  const at = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();
  await connections.moveFlow(id, { flow_step: 'COMPLETED', flow_status: 'SUCCESS' });
  await connections.change(id, { status: 'AUTHENTICATED', last_auth_check_at: at(2) }, [
    { id: 'evt_1', type: 'login', status: 'SUCCESS', step: 'COMPLETED', timestamp: at(300), updated_at: at(299.2) },
    {
      id: 'evt_2',
      type: 'health_check',
      status: 'AUTHENTICATED',
      timestamp: at(240),
      check: { method: 'request', decided_by: 'status' },
    },
    {
      id: 'evt_3',
      type: 'health_check',
      status: 'NEEDS_AUTH',
      timestamp: at(120),
      check: { method: 'browser', decided_by: 'login_form' },
    },
    {
      id: 'evt_4',
      type: 'reauth',
      status: 'FAILED',
      step: 'SUBMITTING',
      timestamp: at(119),
      updated_at: at(118.5),
      error_code: 'credentials_invalid',
      error_message: 'The site rejected the username or password',
      website_error: 'Wrong password',
      evidence: 'form with one password field',
      steps: [
        { step: 'DISCOVERING', started_at: at(119), ended_at: at(118.9) },
        { step: 'AWAITING_EXTERNAL_ACTION', started_at: at(118.9), ended_at: at(118.6) },
        { step: 'SUBMITTING', started_at: at(118.6), ended_at: at(118.5) },
      ],
    },
    {
      id: 'evt_5',
      type: 'health_check',
      status: 'AUTHENTICATED',
      timestamp: at(2),
      check: { method: 'browser', decided_by: 'signed_in' },
    },
  ]);
  await page.reload();
  const failed = page.getByRole('listitem').filter({ hasText: 'The site rejected the username or password.' });
  // Half a minute, of which eighteen seconds were somebody else's.
  await failed.getByText('took 30 sec, 18 sec of that waiting for an answer').waitFor();
  expect(await failed.locator('.step-times li').allTextContents()).toEqual([
    'finding the form 6 sec',
    'waiting for confirmation 18 sec',
    'submitting 6 sec (ended here)',
  ]);
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'connection');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect((await call('GET', `/auth/connections/${id}`)).json()).toMatchObject({ health_checks: false });

  await call('POST', '/auth/connections', { domain: 'bank.example', profile_name: 'ann' });
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('link', { name: '1 needs a person' }).waitFor();
  await page.locator('.u-over').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'overview');
  await page.getByRole('link', { name: '1 needs a person' }).click();
  await page.getByRole('link', { name: 'bank.example' }).waitFor();
  expect(await page.getByRole('link', { name: 'shop.example' }).count()).toBe(0);
  await visits.shot(page, 'connections');
  await finish();
});

test('everything works on a phone in dark mode and German', async () => {
  await fixture().call('POST', '/proxies', { type: 'custom', name: 'Home', config: { host: 'h.example', port: 1 } });
  const { page, finish } = await visits.begin({ ...PHONE, colorScheme: 'dark', locale: 'de' });
  await page.goto(`${visits.base}/console`);
  await page.locator('.u-over').waitFor();
  await visits.shot(page, 'overview-phone');
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('button', { name: 'Menü' }).click();
  await page.getByRole('link', { name: 'Verbindungen' }).click();
  await page.getByRole('link', { name: 'shop.example' }).waitFor();
  await visits.shot(page, 'connections-phone');
  await page.getByRole('link', { name: 'shop.example' }).click();
  await page.getByRole('heading', { name: 'Verlauf' }).waitFor();
  await page.getByText('dauerte 30 Sek., davon 18 Sek. auf Antwort gewartet').waitFor();
  await visits.shot(page, 'connection-phone');
  expect(await axeComplaints(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await finish();
});

test('a link signs in once, and its code leaves the address immediately', async () => {
  const { store } = fixture();
  const { page, context, finish } = await visits.begin(DESKTOP);
  const code = await makeSignInCode(store, DEFAULT_ORGANIZATION_ID, 'ann@example.com');
  await context.clearCookies();
  await page.goto(`${visits.base}/console/connections`);
  await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.goto(`${visits.base}/console#code=${code}`);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(page.url()).toBe(`${visits.base}/console`);
  // A password and an authenticator are set, and sign in from then on.
  await page.getByRole('link', { name: 'Ann' }).click();
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Continue' }).click();
  const secret = (await page.locator('code').textContent()) ?? '';
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'authenticator');
  const totp = new TOTP({ secret });
  await page.getByLabel('Code', { exact: true }).fill(totp.generate());
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('The password and the authenticator were set.').waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
  await page.getByLabel('Email address').fill('ann@example.com');
  await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
  // The code that the set-up took is not taken again; the next one is, a little early.
  await page.getByLabel('Code from your authenticator app').fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Sign-in link').fill(`${visits.base}/console#code=${code}`);
  await page.getByRole('button', { name: 'Sign in with link' }).click();
  await page.getByText(/already used/).waitFor();
  await finish();
});

test('the first view is less than 200 kB, compressed, and cached by browsers', async () => {
  const assets = await loadConsoleAssets();
  const { page, finish } = await visits.begin(DESKTOP);
  const fetched = new Set<string>();
  page.on('request', (request) => fetched.add(request.url().split('/console/assets/')[1] ?? ''));
  await page.goto(`${visits.base}/console`);
  // The chart is the last that comes.
  await page.locator('.u-over').waitFor();
  await finish();
  const parts = [...assets.files].filter(([name]) => fetched.has(name));
  expect(parts.map(([name]) => name)).toContain(assets.script);
  // Pages of other addresses come when they are opened.
  expect(parts.length).toBeLessThan(assets.files.size);
  expect(parts.reduce((sum, [, { br }]) => sum + br.length, 0)).toBeLessThan(200_000);
  const file = await fixture().app.inject({
    url: `/console/assets/${assets.script}`,
    headers: { 'accept-encoding': 'gzip, br' },
  });
  expect(file.headers['content-encoding']).toBe('br');
  expect(file.headers['cache-control']).toContain('immutable');
  const plain = await fixture().app.inject(`/console/assets/${assets.script}`);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.body).toContain('react');
  expect((await fixture().app.inject('/console/assets/main-OLD.js')).statusCode).toBe(404);
});
