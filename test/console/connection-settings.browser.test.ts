import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ManagedAuth } from '../../contract/connections.ts';
import { useService } from '../api/service-fixture.ts';
import { DESKTOP } from '../hosted/visit.ts';
import { axeComplaints } from './axe.ts';
import { type ConsoleVisits, openConsole } from './visit.ts';

const fixture = useService();
let visits: ConsoleVisits;
let path: string;
let address: string;
beforeAll(async () => {
  visits = await openConsole(fixture());
  const { call } = fixture();
  const { id } = (
    await call('POST', '/auth/connections', { domain: 'shop.example', profile_name: 'ann' })
  ).json<ManagedAuth>();
  path = `/auth/connections/${id}`;
  address = `${visits.base}/console/connections/${id}`;
  await call('POST', '/proxies', { type: 'custom', name: 'Office', config: { host: 'proxy.example', port: 8080 } });
});
afterAll(() => visits.close());

const read = async (): Promise<ManagedAuth> => (await fixture().call('GET', path)).json<ManagedAuth>();

test('every setting can be changed, and errors are shown at their fields', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(address);
  await page.getByRole('link', { name: 'Settings', exact: true }).click();
  await page.getByRole('heading', { name: 'Settings for shop.example' }).waitFor();
  const part = (name: string) => page.getByRole('group', { name, exact: true });
  const save = async (name: string): Promise<void> => {
    await part(name).getByRole('button', { name: 'Save' }).click();
    await page.getByText('The settings were saved.').last().waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).first().click();
  };
  await part('Browser').getByLabel('Proxy').waitFor();
  expect(await axeComplaints(page)).toEqual([]);

  const checks = part('Checks and logins');
  await checks.getByLabel('Check interval', { exact: true }).selectOption('86400');
  await checks.getByRole('switch', { name: 'Log in again automatically' }).press('Space');
  await checks.getByRole('switch', { name: 'Record logins on video' }).press('Space');
  await save('Checks and logins');
  expect(await read()).toMatchObject({ health_check_interval: 86_400, auto_reauth: false, record_session: true });

  const site = part('Site');
  await site.getByLabel('Address of the login page').fill('https://127.0.0.1/login');
  await site.getByRole('button', { name: 'Save' }).click();
  await site
    .getByText(/is a private address/)
    .first()
    .waitFor();
  expect(await site.getByLabel('Address of the login page').getAttribute('aria-invalid')).toBe('true');
  await site.getByLabel('Address of the login page').fill('https://shop.example/login');
  const domains = site.getByLabel('Other sites where the password may be entered');
  await domains.fill('accounts.example.com\nno host!');
  await site.getByRole('button', { name: 'Save' }).click();
  await site.getByText(/Entry 2: must be a hostname/).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'settings-fault');
  await domains.fill('accounts.example.com\n\nlogin.example.com');
  await save('Site');
  expect(await read()).toMatchObject({
    login_url: 'https://shop.example/login',
    allowed_domains: ['accounts.example.com', 'login.example.com'],
  });

  const browser = part('Browser');
  await browser.getByLabel('Proxy').selectOption({ label: 'Office' });
  await browser.getByRole('switch', { name: /telemetry/ }).press('Space');
  await save('Browser');
  const chosen = await read();
  expect(chosen.browser).toMatchObject({ proxy: { id: chosen.proxy_id }, telemetry: { enabled: true } });
  await browser.getByLabel('Proxy').selectOption('');
  await save('Browser');
  expect((await read()).proxy_id).toBeUndefined();

  const codes = part('Automatic one-time codes');
  await codes.getByLabel('Text messages to this number').fill('0171 555');
  await codes.getByRole('button', { name: 'Save' }).click();
  await codes
    .getByText(/must be a number with its country/)
    .first()
    .waitFor();
  await codes.getByLabel('Text messages to this number').fill('+1 555 010 9999');
  await codes.getByLabel('Emails to this address').fill('codes@example.com');
  await codes.getByRole('switch', { name: 'Your program submits codes from calls' }).press('Space');
  await save('Automatic one-time codes');
  const all = { phone_number: '+15550109999', email_address: 'codes@example.com', api: ['call'] };
  expect((await read()).codes).toEqual(all);
  await codes.getByLabel('Text messages to this number').fill('');
  await codes.getByLabel('Emails to this address').fill('');
  await codes.getByRole('switch', { name: 'Your program submits codes from calls' }).press('Space');
  await save('Automatic one-time codes');
  expect((await read()).codes).toBeUndefined();
  await codes.getByRole('link', { name: 'Code sources' }).click();
  await page.getByRole('heading', { name: 'No code sources yet' }).waitFor();
  await finish();
});

test('a credential is created, attached, changed and detached; its values are never shown', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${address}/settings`);
  const part = page.getByRole('group', { name: 'Credentials' });
  const dialog = page.getByRole('dialog');
  const password = 'correct horse battery';
  await part.getByRole('button', { name: 'Add a credential' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Shop');
  await dialog.getByLabel('Username').fill('ann');
  await dialog.getByRole('textbox', { name: 'Password' }).fill(password);
  await dialog.getByRole('button', { name: 'Add a credential' }).click();
  await part.getByRole('link', { name: 'Change Shop' }).waitFor();
  expect((await read()).credential).toEqual({ name: 'Shop' });
  expect(await part.getByRole('combobox').inputValue()).toBe('stored:Shop');
  expect(await page.content()).not.toContain(password);
  await part.getByRole('link', { name: 'Change Shop' }).click();
  await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
  await page.goBack();
  await part.getByRole('combobox').selectOption('');
  await part.getByRole('button', { name: 'Save' }).click();
  await part.getByRole('link', { name: 'Change Shop' }).waitFor({ state: 'detached' });
  expect((await read()).credential).toBeUndefined();
  expect(await axeComplaints(page)).toEqual([]);
  await finish();
});
