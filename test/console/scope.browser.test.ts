import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import { useService } from '../api/service-fixture.ts';
import { DESKTOP, PHONE } from '../hosted/visit.ts';
import { axeComplaints } from './axe.ts';
import { type ConsoleVisits, openConsole } from './visit.ts';

const fixture = useService();
let visits: ConsoleVisits;
beforeAll(async () => {
  visits = await openConsole(fixture());
});
afterAll(() => visits.close());

test('projects are created, renamed, archived and deleted, and a second one shows the switch', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console`);
  await page.getByRole('link', { name: 'Projects' }).click();
  await page.getByRole('cell', { name: 'Default' }).waitFor();
  // Nothing to choose from among one.
  expect(await page.getByRole('button', { name: /Choose project or organization/ }).count()).toBe(0);
  expect(page.url()).toBe(`${visits.base}/console/projects`);
  await page.getByRole('button', { name: 'Create a project' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Shop');
  await dialog.getByRole('button', { name: 'Create a project' }).click();
  await page.getByRole('button', { name: /Choose project or organization: All projects/ }).waitFor();
  const row = page.getByRole('row', { name: /Shop/ });
  await row.getByRole('button', { name: 'Rename' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('Shops');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('cell', { name: 'Shops' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'projects');
  const shops = page.getByRole('row', { name: /Shops/ });
  await shops.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Archive' }).click();
  await shops.getByText('archived', { exact: true }).waitFor();
  await shops.getByRole('button', { name: 'Restore' }).click();
  await shops.getByText('active', { exact: true }).waitFor();
  await shops.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await shops.waitFor({ state: 'detached' });
  await finish();
});

test('a project is selected by keyboard, appears in the address, and applies everywhere', async () => {
  const { call, store } = fixture();
  const { id } = await store.projects.create(DEFAULT_ORGANIZATION_ID, { name: 'Tickets' });
  await call('POST', '/profiles', { name: 'of the default project' });
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/profiles`);
  await page.getByRole('link', { name: 'of the default project' }).waitFor();
  await page.getByRole('button', { name: /Choose project or organization/ }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('New resources are created in Default').waitFor();
  await visits.shot(page, 'scope-open');
  expect(await axeComplaints(page)).toEqual([]);
  // Escape closes it, and the focus is where it was.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Tickets' }).waitFor({ state: 'hidden' });
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Tickets' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No profiles yet' }).waitFor();
  expect(page.url()).toBe(`${visits.base}/console/p/${id}/profiles`);
  await page.getByRole('button', { name: 'Create a profile' }).first().click();
  await page.getByLabel('Name', { exact: true }).last().fill('of tickets');
  await page.getByRole('dialog').getByRole('button', { name: 'Create a profile' }).click();
  await page.getByRole('link', { name: 'of tickets' }).click();
  await page.getByRole('heading', { name: 'of tickets' }).waitFor();
  const address = page.url();
  expect(address).toContain(`/console/p/${id}/profiles/`);
  const made = (await call('GET', '/profiles', null, { 'x-kernel-project-id': id })).json<{ name: string }[]>();
  expect(made.map(({ name }) => name)).toEqual(['of tickets']);
  await page.reload();
  await page.getByRole('heading', { name: 'of tickets' }).waitFor();

  // Every page of the menu is there in one project, too.
  const menu = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  for (const name of await menu.allTextContents()) {
    // No browser service runs here.
    if (name.startsWith('Browser')) continue;
    await menu.filter({ hasText: name }).first().click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.getByText('Loading …').count()).toBe(0);
    expect(await page.getByText('This could not be loaded').count(), name).toBe(0);
    expect(page.url()).toContain(`/console/p/${id}`);
  }
  // The door opens where one was last.
  await page.goto(`${visits.base}/console`);
  await page.getByRole('button', { name: /Tickets/ }).waitFor();
  expect(page.url()).toBe(`${visits.base}/console/p/${id}`);
  await finish();

  // A colleague's browser has chosen nothing; the link says it all.
  const colleague = await visits.begin(DESKTOP);
  await colleague.page.goto(address);
  await colleague.page.getByRole('heading', { name: 'of tickets' }).waitFor();
  await colleague.page.getByRole('button', { name: /Tickets/ }).waitFor();
  await colleague.finish();
});

test('archived and missing projects are reported as such', async () => {
  const { store } = fixture();
  const { id } = await store.projects.create(DEFAULT_ORGANIZATION_ID, { name: 'Last year' });
  await store.projects.update(DEFAULT_ORGANIZATION_ID, id, { isArchived: true });
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/p/${id}/connections`);
  await page.getByRole('heading', { name: 'The project Last year is archived' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('button', { name: 'Go to projects' }).click();
  await page.getByRole('cell', { name: 'Last year' }).waitFor();
  await page.goto(`${visits.base}/console/p/proj_nowhere/connections`);
  await page.getByRole('heading', { name: 'Project not found' }).waitFor();
  await visits.shot(page, 'scope-missing');
  await page.getByRole('button', { name: 'All projects' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await finish();
});

test('organizations can be switched; a link to another one asks first, and other tabs follow', async () => {
  const { store } = fixture();
  const other = 'org_beta';
  await store.organizations.create({ id: other, name: 'Beta', plan: 'enterprise' });
  const project = await store.projects.create(other, { name: 'Beta first' });
  const { page, context, finish } = await visits.begin({ ...PHONE, colorScheme: 'dark', locale: 'de' });
  const ann = await store.users.findByEmail('ann@example.com');
  await store.memberships.add(other, ann?.id ?? '', 'viewer');
  await page.goto(`${visits.base}/console`);
  await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
  await page.getByRole('button', { name: 'Menü' }).click();
  await page.getByRole('button', { name: /Auswählen, was gezeigt wird/ }).click();
  await visits.shot(page, 'scope-phone');
  expect(await axeComplaints(page)).toEqual([]);
  const tab = await context.newPage();
  await tab.goto(`${visits.base}/console/projects`);
  await tab.getByRole('cell', { name: 'Tickets' }).waitFor();
  await page.getByRole('button', { name: 'Beta', exact: true }).click();
  await page.waitForURL(`${visits.base}/console/o/${other}`);
  await tab.waitForURL(`${visits.base}/console/o/${other}`);

  // Who may only read is offered nothing else.
  await tab.goto(`${visits.base}/console/o/${other}/projects`);
  await tab.getByRole('cell', { name: 'Beta first' }).waitFor();
  expect(await tab.getByRole('button', { name: 'Projekt anlegen' }).count()).toBe(0);

  // A link of the first organization, without and with its name.
  await page.goto(`${visits.base}/console/o/${DEFAULT_ORGANIZATION_ID}/connections`);
  await page.getByRole('heading', { name: 'Diese Seite gehört zu Default' }).waitFor();
  await visits.shot(page, 'scope-elsewhere-phone');
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('button', { name: 'In Beta bleiben' }).click();
  await page.waitForURL(`${visits.base}/console/o/${other}`);
  await page.goto(`${visits.base}/console/o/${DEFAULT_ORGANIZATION_ID}/connections`);
  await page.getByRole('button', { name: 'Zu Default wechseln' }).click();
  await page.getByRole('heading', { name: 'Verbindungen', level: 1 }).waitFor();
  expect(page.url()).toBe(`${visits.base}/console/o/${DEFAULT_ORGANIZATION_ID}/connections`);
  await page.goto(`${visits.base}/console/p/${project.id}/proxies`);
  await page.getByRole('button', { name: 'In Beta nachsehen' }).click();
  await page.getByRole('heading', { name: 'Proxys', level: 1 }).waitFor();
  expect(page.url()).toBe(`${visits.base}/console/o/${other}/p/${project.id}/proxies`);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await visits.shot(page, 'scope-in-project-phone');
  await finish();
});
