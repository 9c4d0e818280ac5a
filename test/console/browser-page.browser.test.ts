import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../api/service-fixture.ts';
import { API_KEY as BROWSER_KEY } from '../browser/memory-profiles.ts';
import { startService, type ServiceUnderTest } from '../browser/service-under-test.ts';
import { DESKTOP, PHONE } from '../hosted/visit.ts';
import { freePort } from '../setup/free-port-block.ts';
import { axeComplaints } from './axe.ts';
import { type ConsoleVisits, openConsole } from './visit.ts';

const browserPort = await freePort();
const fixture = useService({
  settings: {
    publicUrl: 'http://holdfast.test:8080',
    plan: 'enterprise',
    browserBaseUrl: `http://127.0.0.1:${browserPort}`,
    browserApiKey: BROWSER_KEY,
  },
});
let visits: ConsoleVisits;
let browsers: ServiceUnderTest;
beforeAll(async () => {
  browsers = await startService({ port: browserPort });
  visits = await openConsole(fixture());
});
afterAll(async () => {
  await visits.close();
  await browsers.stop();
});

test('a browser is opened, its files, log and telemetry are read, and it is closed, also on a phone in German', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/browsers`);
  await page.getByRole('heading', { name: 'No browser is open' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('button', { name: 'Open a browser' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('switch', { name: 'headless' }).press('Space');
  await visits.shot(page, 'browser-form');
  await dialog.getByRole('button', { name: 'Open a browser' }).click();
  await page.getByText('This browser was opened without telemetry.').waitFor();

  const { kernel } = browsers;
  await kernel.browsers.deleteByID(page.url().split('/').at(-1) ?? '');
  const wanted = { headless: true, telemetry: { enabled: true }, colour_of_its_case: 'red' };
  const { session_id: id } = await kernel.browsers.create(wanted);
  await kernel.browsers.fs.writeFile(id, 'what it says', { path: '/tmp/notes.txt' });
  await kernel.browsers.computer.moveMouse(id, { x: 10, y: 10 });
  await page.goto(`${visits.base}/console/browsers/${id}`);
  await page.getByRole('button', { name: 'tmp/' }).click();
  await page.getByRole('link', { name: 'notes.txt' }).waitFor();
  await page.getByRole('cell', { name: 'api_call' }).first().waitFor();
  const log = page.getByRole('log', { name: 'Log' });
  await log.getByText(/colour_of_its_case/).waitFor();
  await page.getByLabel('Source').selectOption({ label: 'Recorder' });
  await page.getByText('No output.').waitFor();
  await page.getByLabel('Source').selectOption({ label: 'Holdfast' });
  await log.getByText(/colour_of_its_case/).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'browser');
  await finish();

  const phone = await visits.begin({ ...PHONE, locale: 'de-DE' });
  await phone.page.goto(`${visits.base}/console/browsers/${id}`);
  await phone.page
    .getByRole('log', { name: 'Protokoll' })
    .getByText(/colour_of_its_case/)
    .waitFor();
  expect(await axeComplaints(phone.page)).toEqual([]);
  await visits.shot(phone.page, 'browser-phone');
  await phone.page.getByRole('button', { name: 'Schließen' }).click();
  await phone.page.getByRole('alertdialog').getByRole('button', { name: 'Schließen' }).click();
  await phone.page.getByRole('heading', { name: 'Kein Browser ist offen' }).waitFor();
  await phone.finish();
});
