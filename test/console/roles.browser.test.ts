import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Role } from '../../contract/people.ts';
import { useService } from '../api/service-fixture.ts';
import { DESKTOP, PHONE } from '../hosted/visit.ts';
import { axeComplaints } from './axe.ts';
import { openConsole, type ConsoleVisits } from './visit.ts';

const fixture = useService();
let visits: ConsoleVisits;
beforeAll(async () => {
  visits = await openConsole(fixture());
  const { call } = fixture();
  await call('POST', '/profiles', { name: 'shopper' });
  await call('POST', '/auth/connections', {
    profile_name: 'shopper',
    domain: 'shop.example',
  });
});
afterAll(() => visits.close());

/** Has somebody with a role look at the console in place of the owner of the visit. */
async function lookAs(role: Role, { context }: Awaited<ReturnType<ConsoleVisits['begin']>>): Promise<void> {
  const { store } = fixture();
  const { id } = await store.users.create({ organizationId: 'org_default', email: `${role}@example.com`, name: role });
  await store.memberships.add('org_default', id, role);
  const { token } = await store.userSessions.begin(id, 'org_default');
  await context.addCookies([{ name: 'holdfast_session', value: token, url: visits.base }]);
}

/** The names of the buttons that a page offers, once its list or its text stands there. */
async function offered(page: Page, path: string): Promise<string[]> {
  await page.goto(`${visits.base}/console${path}`);
  await page.locator('main').locator('.table, .empty, .form').first().waitFor();
  return page.locator('main').getByRole('button').allTextContents();
}

test('a viewer is offered nothing the API would reject, and told why', async () => {
  const visit = await visits.begin(DESKTOP);
  const { page, finish } = visit;
  await lookAs('viewer', visit);
  for (const path of [
    '/connections',
    '/profiles',
    '/credentials',
    '/providers',
    '/code-sources',
    '/proxies',
    '/webhooks',
  ]) {
    expect([path, await offered(page, path)]).toEqual([path, []]);
    await page.getByText('You can view this page.').waitFor();
  }
  for (const path of ['/keys', '/members', '/projects', '/limits', '/audit-log/destinations']) {
    expect([path, await offered(page, path)]).toEqual([path, []]);
    await page.getByText('Only owners can make changes.').waitFor();
  }
  expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0);
  await page.goto(`${visits.base}/console/connections`);
  await page.getByRole('link', { name: 'shop.example' }).click();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: 'Check the session automatically' }).first().waitFor();
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect(await page.getByRole('switch', { name: 'Check the session automatically' }).isDisabled()).toBe(true);
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'settings-to-read');
  // What is their own they do change.
  expect(await offered(page, '/account')).toContain('Save');
  await finish();
});

test("an operator is offered operators' actions and none of owners'", async () => {
  const visit = await visits.begin(DESKTOP);
  const { page, finish } = visit;
  await lookAs('operator', visit);
  expect(await offered(page, '/profiles')).toEqual(expect.arrayContaining(['Create a profile', 'Rename', 'Delete']));
  expect(await page.getByText('You can view this page.').count()).toBe(0);
  expect(await offered(page, '/keys')).toEqual([]);
  await visits.shot(page, 'keys-to-read');
  await page.getByText('You can view this page. Only owners can make changes.').waitFor();
  await finish();
});

test('a viewer is linked to no forbidden page, and told whom to ask', async () => {
  const visit = await visits.begin({ ...PHONE, locale: 'de' });
  const { page, finish } = visit;
  await lookAs('viewer', visit);
  await page.goto(`${visits.base}/console/connections`);
  await page.getByRole('button', { name: 'Menü' }).click();
  const menu = page.getByRole('navigation', { name: 'Seiten' });
  await menu.getByRole('link', { name: 'Profile', exact: true }).waitFor();
  const names = await menu.getByRole('link').allTextContents();
  expect(names).not.toContain('Browser');
  expect(names).not.toContain('Browser-Pools');
  await visits.shot(page, 'menu-to-read-phone');
  await page.getByRole('button', { name: 'Menü' }).click();
  await page.getByRole('link', { name: 'shop.example' }).click();
  await page.getByText('Bitte eine Person mit der Rolle „arbeitet“ oder „verwaltet“').waitFor();
  expect(await page.getByText('Drücke oben').count()).toBe(0);
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'connection-to-read-phone');
  // An address that somebody sent leads no further than the menu.
  await page.goto(`${visits.base}/console/browsers`);
  await page.getByText('Was hier steht, sieht nur').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await visits.shot(page, 'browsers-not-to-read-phone');
  await finish();
});

test('the default project cannot be archived or deleted', async () => {
  const { page, finish } = await visits.begin({ ...PHONE, locale: 'de' });
  await fixture().call('POST', '/org/projects', { name: 'Second' });
  await page.goto(`${visits.base}/console/projects`);
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('cell', { name }) });
  const second = row('Second').getByRole('button');
  await second.filter({ hasText: 'Archivieren' }).waitFor();
  expect(await second.allTextContents()).toEqual(['Umbenennen', 'Archivieren', 'Löschen']);
  expect(await row('Default').getByRole('button').allTextContents()).toEqual(['Umbenennen']);
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'projects-phone');
  await finish();
});
