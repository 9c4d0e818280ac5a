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

const read = async (path: string): Promise<unknown> => (await fixture().call('GET', path)).json();

test('limits of the organization and of a project are set, rejected and removed, and projects are turned off', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  // Those of the organization are set while one project is looked at, too.
  await page.goto(`${visits.base}/console/p/prj_default/limits`);
  await page.getByText('0, no limit').waitFor();
  await page
    .getByRole('row', { name: /Default/ })
    .getByText('organization’s limit')
    .waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'limits');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Change' }).first().click();
  await dialog.getByLabel('Maximum connections').fill('many');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.getByText('must be a whole number, or empty').waitFor();
  await dialog.getByLabel('Maximum connections').fill('2000000');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await dialog.getByText('must be 1000000 or less').waitFor();
  await dialog.getByLabel('Maximum connections').fill('12');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await page.getByText('0 of 12').waitFor();
  const row = page.getByRole('row', { name: /Default/ });
  await row.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Concurrent invocations').fill('3');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await row.getByRole('cell', { name: '3', exact: true }).waitFor();
  expect(await read('/org/projects/Default/limits')).toMatchObject({ max_concurrent_invocations: 3 });
  await row.getByRole('button', { name: 'Change' }).click();
  await dialog.getByLabel('Concurrent invocations').fill('');
  await dialog.getByRole('button', { name: 'Change' }).click();
  await row.getByRole('cell', { name: 'no limit', exact: true }).waitFor();

  await page.goto(`${visits.base}/console/limits`);
  await page.getByRole('button', { name: 'Turn projects off' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Turn projects off' }).click();
  await page.getByText('Projects are off: only the organization’s limits apply.').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  expect(await read('/org/entitlements')).toMatchObject({ projects: false, max_auth_connections: 12 });
  await page.getByRole('button', { name: 'Turn projects on' }).click();
  await row.waitFor();
  await finish();
});

test('only owners can change limits, also within one project, on a phone in German', async () => {
  const { store } = fixture();
  const { page, context, finish } = await visits.begin({ ...PHONE, colorScheme: 'dark', locale: 'de' });
  const [project] = (await fixture().call('GET', '/org/projects')).json<{ id: string }[]>();
  const user = await store.users.create({ organizationId: 'org_default', email: 'vic@example.com', name: 'Vic' });
  await store.memberships.add('org_default', user.id, 'viewer');
  const { token } = await store.userSessions.begin(user.id, 'org_default');
  await context.addCookies([{ name: 'holdfast_session', value: token, url: visits.base }]);
  await page.goto(`${visits.base}/console/p/${project?.id}/limits`);
  await page.getByText('Kürzeste Zeit zwischen Prüfungen').waitFor();
  await page.getByText('wie bei der Organisation').waitFor();
  expect(await page.getByRole('button', { name: /Ändern|ausschalten/ }).count()).toBe(0);
  expect(await axeComplaints(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await visits.shot(page, 'limits-phone');
  await finish();
});

test('a code source is added, copied and deleted on a phone in dark mode and German', async () => {
  const { page, context, finish } = await visits.begin({ ...PHONE, colorScheme: 'dark', locale: 'de' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${visits.base}/console/code-sources`);
  await page.getByRole('heading', { name: 'Noch keine Code-Quellen' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('button', { name: 'Anbieter hinzufügen' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Geheimnis').fill('short');
  await dialog.getByRole('button', { name: 'Anbieter hinzufügen' }).click();
  // What the API says of a field is said in the language of the page.
  await dialog.getByText('muss 8 Zeichen oder mehr haben').waitFor();
  await visits.shot(page, 'code-source-fault');
  await dialog.getByLabel('Geheimnis').fill('a-twilio-auth-token');
  await dialog.getByRole('button', { name: 'Anbieter hinzufügen' }).click();
  const url = await page.getByText(/\/code_sources\/.*\/messages/).textContent();
  expect(await page.content()).not.toContain('a-twilio-auth-token');
  await page.getByRole('button', { name: 'Adresse kopieren' }).click();
  await page.getByText('Die Adresse ist kopiert.').waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
  await visits.shot(page, 'code-sources-phone');
  expect(await axeComplaints(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await page.getByRole('button', { name: 'Löschen' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Löschen' }).click();
  await page.getByRole('heading', { name: 'Noch keine Code-Quellen' }).waitFor();
  await finish();
});
