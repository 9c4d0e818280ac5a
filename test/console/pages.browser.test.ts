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

test('row labels stay readable next to a long name on a phone', async () => {
  await fixture().call('POST', '/auth/connections', {
    profile_name: 'Straßenbahn/Über Land und Söhne, mit einem Namen, der breiter als ein Telefon ist',
    domain: 'shop.example',
  });
  const { page, finish } = await visits.begin(PHONE);
  await page.goto(`${visits.base}/console/connections`);
  const cell = page.getByRole('cell', { name: /Straßenbahn/ });
  await cell.waitFor();
  // A heading that is pressed to the width of a letter stands on as many lines as it has letters.
  const width = await cell.evaluate((element) => Number.parseFloat(getComputedStyle(element, '::before').width));
  expect(width).toBeGreaterThan(30);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await finish();
});

test('an unknown address shows a "not found" page with a link back', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/nowhere`);
  await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('link', { name: 'Go to overview' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await finish();
});

test('the audit log shows times to the second, and how many requests were left out', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  const row = {
    timestamp: '2026-11-23T15:25:07.000Z',
    auth_strategy: 'none',
    user_id: '',
    email: '',
    status: 401,
    method: 'GET',
    path: '/profiles',
    route: '/profiles',
    domain: 'localhost',
    duration_ms: 1,
    client_ip: '192.0.2.7',
    user_agent: '',
  };
  const leftOut = { ...row, status: 0, method: '', path: '', route: '1234 requests left out', domain: '' };
  await page.route('**/audit-logs?*', (route) => route.fulfill({ json: [row, leftOut] }));
  await page.goto(`${visits.base}/console/audit-log`);
  const refused = page.getByRole('row', { name: /GET \/profiles/ });
  await refused.getByRole('cell', { name: /:25:07/ }).waitFor();
  const told = page.getByRole('row', { name: /1,234 more unauthenticated requests/ });
  expect(await told.getByRole('cell').nth(3).textContent()).toBe('–');
  await finish();
});
