import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../api/service-fixture.ts';
import { DESKTOP, PHONE } from '../hosted/visit.ts';
import { axeComplaints } from './axe.ts';
import { openConsole, type ConsoleVisits } from './visit.ts';

const fixture = useService();
let visits: ConsoleVisits;
beforeAll(async () => {
  visits = await openConsole(fixture());
});
afterAll(() => visits.close());

test('a key is shown once and rejected after it is revoked', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/keys`);
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Nightly report');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
  const secret = page.getByRole('alertdialog').getByLabel('Secret');
  const key = await secret.inputValue();
  const ask = () => fetch(`${visits.base}/auth/context`, { headers: { authorization: `Bearer ${key}` } });
  expect((await ask()).status).toBe(200);
  await visits.shot(page, 'key-shown-once');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  const row = page.getByRole('row', { name: /Nightly report/ });
  expect(await row.textContent()).not.toContain(key);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  expect((await ask()).status).toBe(401);
  expect(await axeComplaints(page)).toEqual([]);
  await finish();
});

test('a profile, a credential and a webhook are created, changed and deleted', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/profiles`);
  await page.getByRole('button', { name: 'Create a profile' }).first().click();
  await page.getByLabel('Name', { exact: true }).last().fill('Bücher & Konten');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a profile' }).click();
  await page.getByRole('link', { name: 'Bücher & Konten' }).click();
  await page.getByRole('heading', { name: 'No sites yet' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No profiles yet' }).waitFor();

  await page.getByRole('link', { name: 'Credentials' }).click();
  await page.getByRole('button', { name: 'Add a credential' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Books');
  await dialog.getByLabel('Site').fill('books.example');
  await dialog.getByLabel('Username').fill('ann');
  await dialog.getByRole('textbox', { name: 'Password' }).fill('correct horse');
  await dialog.getByRole('button', { name: 'Add a credential' }).click();
  await page.getByText('username, password').or(page.getByText('password, username')).waitFor();
  await page.getByRole('button', { name: 'Set the authenticator secret' }).click();
  await dialog.getByLabel('Authenticator secret').fill('not base32!');
  await dialog.getByRole('button', { name: 'Set the authenticator secret' }).click();
  await dialog
    .getByText(/must be a base32 secret/)
    .first()
    .waitFor();
  await dialog.getByLabel('Authenticator secret').fill('JBSWY3DPEHPK3PXP');
  await dialog.getByRole('button', { name: 'Set the authenticator secret' }).click();
  await page.getByText('values, authenticator secret').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'credential');

  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByRole('button', { name: 'Add a webhook' }).first().click();
  await dialog.getByLabel('URL').fill('https://hooks.example/holdfast');
  await dialog.getByRole('button', { name: 'Add a webhook' }).click();
  expect(await page.getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('link', { name: 'https://hooks.example/holdfast' }).click();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused', { exact: true }).waitFor();
  await visits.shot(page, 'webhook');
  expect(await axeComplaints(page)).toEqual([]);
  await finish();
});

test('actions appear in the audit log on a phone in dark mode and German', async () => {
  const { page, finish } = await visits.begin({ ...PHONE, colorScheme: 'dark', locale: 'de' });
  await fixture().call('POST', '/profiles', { name: 'for the log' });
  await page.goto(`${visits.base}/console/audit-log`);
  await page.getByLabel('Methode').selectOption('POST');
  await page.getByLabel(/^Pfad/).fill('/profiles');
  await page.getByText('POST /profiles').first().waitFor();
  await visits.shot(page, 'audit-log-phone');
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('link', { name: 'Exportziele' }).click();
  await page.getByRole('heading', { name: 'Das Protokoll wird nicht exportiert' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await finish();
});

test('the console lists members, and programs that act for them', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/members`);
  await page.getByRole('button', { name: 'Invite someone' }).click();
  await page.getByLabel('Email').fill('nia@example.com');
  await page.getByRole('dialog').getByRole('button', { name: 'Invite someone' }).click();
  expect(await page.getByRole('alertdialog').getByLabel('Secret').inputValue()).toContain('/console#invitation=');
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByRole('cell', { name: 'nia@example.com' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'members');
  await page.getByRole('link', { name: 'Authorized programs' }).click();
  await page.getByRole('heading', { name: 'No authorized programs' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  // Nobody is sent elsewhere than back to a page of consent.
  await page.goto(`${visits.base}/console?return_to=${encodeURIComponent('//evil.example/oauth/consent')}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).toContain(visits.base);
  await finish();
});
