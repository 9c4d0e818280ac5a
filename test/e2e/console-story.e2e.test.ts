import { TOTP } from 'otpauth';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSignInCode } from '../../store/administrator.ts';
import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import { axeComplaints } from '../console/axe.ts';
import { keepShot } from '../console/visit.ts';
import { DESKTOP, PHONE, visit } from '../hosted/visit.ts';
import { startInstallation, type Installation } from './installation.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let on: Installation;
let browser: Browser;
beforeAll(async () => {
  on = await startInstallation();
  browser = await openViewer();
});
afterAll(async () => {
  await closeViewer(browser);
  await on.close();
});

const PASSWORD = 'correct horse battery';
const EMAIL = 'ann@example.com';

/** A new browser context, signed in nowhere. */
async function somebody(options: BrowserContextOptions) {
  const { page, context, complaints } = await visit(browser, options);
  page.setDefaultTimeout(120_000);
  return {
    page,
    leave: async () => {
      expect(complaints).toEqual([]);
      await context.close();
    },
  };
}

/** Sets up name, e-mail, password and authenticator of a person signed in by a link. */
async function settle(page: Page): Promise<TOTP> {
  await page.getByRole('link', { name: 'Set a password or a passkey' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Ann');
  await page.getByLabel('Email address').fill(EMAIL);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: 'Ann', exact: true }).waitFor();
  await page.getByLabel('New password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Continue' }).click();
  const totp = new TOTP({ secret: (await page.locator('code').textContent()) ?? '' });
  await keepShot(page, '02-authenticator');
  await page.getByLabel('Code', { exact: true }).fill(totp.generate());
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByText('The password and the authenticator were set.').waitFor();
  return totp;
}

test('a user adds a site, has a colleague log in, watches it, and sees the next day why it needs a person', async () => {
  const { practice } = on;
  const { username, password } = practice.user('alice');
  const ann = await somebody({ ...DESKTOP, permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = ann;

  await page.goto(`${on.baseUrl}/console#code=${await makeSignInCode(on.store, DEFAULT_ORGANIZATION_ID)}`);
  await page.getByRole('heading', { name: 'Keep your first site logged in' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await keepShot(page, '01-first-view');
  const totp = await settle(page);
  await keepShot(page, '03-account');

  // The URL is pasted from the browser.
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('button', { name: 'Add a site' }).click();
  await page.getByLabel('Site', { exact: true }).fill(practice.page('/login'));
  await page.getByLabel('Profile').fill('bookkeeping');
  await keepShot(page, '04-add-site');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a site' }).click();
  await page.getByRole('heading', { name: 'Needs a first login by a person' }).waitFor();
  await keepShot(page, '05-site-added');
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: 'Copy the link' }).click();
  await page.getByText('The link was copied.').waitFor();
  await keepShot(page, '06-link');
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  await page.keyboard.press('Escape');
  await page.getByRole('heading', { name: 'A login is running: waiting for input' }).waitFor();
  await page.getByRole('button', { name: 'Link to the login' }).waitFor();
  await keepShot(page, '07-waits');

  // A colleague without an account opens it on a phone.
  const colleague = await somebody(PHONE);
  await colleague.page.goto(link);
  await colleague.page.getByLabel('Username').fill(username);
  await colleague.page.getByLabel('Password', { exact: true }).fill(password);
  await keepShot(colleague.page, '08-hosted');
  await colleague.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await colleague.page.getByRole('heading', { name: 'You are signed in' }).waitFor();
  await keepShot(colleague.page, '09-hosted-done');
  await colleague.leave();

  // The page updated without a reload.
  await page.getByRole('heading', { name: 'Logged in', exact: true }).waitFor();
  await page.getByText('will log in again automatically', { exact: false }).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Login' }).getByText('logged in').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await keepShot(page, '10-logged-in');
  await ann.leave();

  // Overnight the password changes and the sessions end.
  await practice.setPassword(username, 'changed by its owner');
  await practice.expire(username);
  const nextDay = await somebody(DESKTOP);
  await signIn(nextDay.page, totp);
  await nextDay.page.getByRole('link', { name: '1 logged in' }).click();
  await nextDay.page.getByRole('link', { name: practice.domain }).click();
  await nextDay.page.getByRole('button', { name: 'Check now' }).click();
  await nextDay.page.getByRole('heading', { name: 'Needs a person: the site rejected the stored details' }).waitFor();
  await keepShot(nextDay.page, '11-checked');
  await whyIsTold(nextDay.page);
  await nextDay.leave();
});

/** Signs in by password and authenticator. The code used in the set-up is rejected; the next one is accepted a little early. */
async function signIn(page: Page, totp: TOTP): Promise<void> {
  await page.goto(`${on.baseUrl}/console`);
  await page.getByLabel('Email address').fill(EMAIL);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByLabel('Code from your authenticator app').fill(totp.generate({ timestamp: Date.now() + 30_000 }));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** From the overview to the reason and the possible actions, in English and in German. */
async function whyIsTold(page: Page): Promise<void> {
  const { practice } = on;
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('link', { name: '1 needs a person' }).waitFor();
  await page.getByRole('link', { name: /the site rejected the stored details/ }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await keepShot(page, '12-overview');
  await page.getByRole('link', { name: '1 needs a person' }).click();
  const listed = page.getByRole('row', { name: /the site rejected the stored details/ });
  await listed.waitFor();
  await keepShot(page, '13-list');
  await listed.getByRole('link', { name: practice.domain }).click();
  const what = page.locator('.what-to-do');
  await what.getByText('The site rejected the username or password.').waitFor();
  await what.getByText('Incorrect username or password.').waitFor();
  await what.getByText(/enter the current details/).waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Automatic login' }).getByText('failed').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'The site has ended the session.' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await keepShot(page, '14-why');
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await what.getByRole('heading', { name: 'Was zu tun ist' }).waitFor();
  await what.getByText('Die Website hat Benutzername oder Passwort abgelehnt.').waitFor();
  await what.getByText(/gibt ein, was jetzt gilt/).waitFor();
  await keepShot(page, '15-why-german');
  await page.getByRole('link', { name: 'Übersicht' }).click();
  await page.getByRole('link', { name: '1 braucht jemanden' }).waitFor();
  await keepShot(page, '16-overview-german');
}
