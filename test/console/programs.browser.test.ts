import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { useService } from '../api/service-fixture.ts';
import { startService, type ServiceUnderTest } from '../browser/service-under-test.ts';
import { API_KEY as BROWSER_KEY } from '../browser/memory-profiles.ts';
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

const READ = {
  name: 'read-page',
  input_schema: {
    type: 'object',
    properties: {
      address: { type: 'string', description: 'Which page' },
      pages: { type: 'integer', default: 3 },
      whole: { type: 'boolean' },
    },
    required: ['address'],
  },
  output_schema: { type: 'object', properties: { title: { type: 'string' } } },
};

async function zip(entries: Record<string, string>): Promise<Buffer> {
  const file = new ZipFile();
  for (const [name, text] of Object.entries(entries)) file.addBuffer(Buffer.from(text), name);
  file.end();
  const chunks: Buffer[] = [];
  for await (const chunk of file.outputStream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The id at the end of a page's address, once it is one of `kind`. */
async function idAt(page: Page, kind: string): Promise<string> {
  await page.waitForURL(new RegExp(`/${kind}/[^/]+$`));
  return page.url().split('/').at(-1) ?? '';
}

test('a program is deployed from an archive, its build followed, and its action run and stopped', async () => {
  const { store } = fixture();
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/apps`);
  await page.getByRole('heading', { name: 'No apps yet' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('link', { name: 'Go to deployments' }).last().click();
  await page.getByRole('heading', { name: 'No deployments yet' }).waitFor();
  await visits.shot(page, 'deployments-empty');
  await page.getByRole('button', { name: 'Upload an archive' }).first().click();
  const dialog = page.getByRole('dialog');
  const buffer = await zip({ 'index.ts': 'export {}', 'package.json': '{}' });
  await dialog.getByLabel('Archive').setInputFiles({ name: 'p.zip', mimeType: 'application/zip', buffer });
  await dialog.getByLabel('Entrypoint').fill('index.exe');
  await dialog.getByLabel('Environment variables').fill('# ours\nTOKEN=of the program\nno variable');
  await dialog.getByRole('button', { name: 'Upload an archive' }).click();
  await dialog.getByText('line 3 is not NAME=value').waitFor();
  await dialog.getByLabel('Environment variables').fill('TOKEN=of the program');
  await dialog.getByRole('button', { name: 'Upload an archive' }).click();
  await dialog
    .getByText(/must end in \.js/)
    .first()
    .waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'deployment-form');
  await dialog.getByLabel('Entrypoint').fill('index.ts');
  await dialog.getByRole('button', { name: 'Upload an archive' }).click();
  const id = await idAt(page, 'deployments');
  await page.getByText('No output yet.').waitFor();

  // What a worker says of the build appears as it is said, and the state with it.
  await store.deployments.begin(id);
  const say = (message: string) => ({ body: { event: 'log' as const, message } });
  await store.appEvents.append({ table: 'deployments', id }, [say('installing 12 packages'), say('<b>done</b>')]);
  await page.getByRole('log').getByText('<b>done</b>').waitFor();
  await page.getByText('building', { exact: true }).waitFor();
  await store.deployments.finish(id, [{ name: 'reader & co', actions: [READ] }]);
  await page.getByText('ready', { exact: true }).waitFor();
  expect(await page.locator('main').textContent()).not.toContain('of the program');
  await page.getByRole('button', { name: 'Show values' }).click();
  await page.getByText('of the program').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'deployment');

  await page.getByRole('link', { name: 'Apps' }).click();
  await page.getByRole('link', { name: 'reader & co' }).click();
  await page.getByRole('heading', { name: 'reader & co' }).waitFor();
  await page.getByText('Input (JSON Schema)').click();
  await page.getByText('"Which page"').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'app');
  await page.getByRole('button', { name: 'Run' }).click();
  await dialog.getByLabel('address').fill('https://example.com');
  await dialog.getByLabel('pages').fill('many');
  await dialog.getByRole('button', { name: 'Run' }).click();
  await dialog.getByText('must be a number').waitFor();
  await dialog.getByLabel('pages').fill('7');
  await dialog.getByRole('switch', { name: 'whole' }).press('Space');
  await visits.shot(page, 'run-form');
  await dialog.getByRole('button', { name: 'Run' }).click();
  const invocation = await idAt(page, 'invocations');
  const made = (await fixture().call('GET', `/invocations/${invocation}`)).json<{ payload: string }>();
  expect(JSON.parse(made.payload)).toEqual({ address: 'https://example.com', pages: 7, whole: true });
  await page.getByText('"https://example.com"').waitFor();
  await store.invocations.begin(invocation);
  await store.appEvents.append({ table: 'invocations', id: invocation }, [say('opening the page')]);
  await page.getByRole('log').getByText('opening the page').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByText('The invocation was ended', { exact: true }).waitFor();
  await page.getByText('failed', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0);
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'invocation');

  // The same by JSON and by the keyboard alone.
  await page.goto(`${visits.base}/console/apps/${encodeURIComponent('reader & co')}`);
  await page.getByRole('button', { name: 'Run' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Enter as JSON' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByLabel('Payload (JSON)').fill('{"address": ');
  await dialog.getByRole('button', { name: 'Run' }).focus();
  await page.keyboard.press('Enter');
  await dialog.getByText('is not valid JSON').waitFor();
  await dialog.getByLabel('Payload (JSON)').fill('{"address": "/"}');
  await dialog.getByRole('button', { name: 'Run' }).focus();
  await page.keyboard.press('Enter');
  const second = await idAt(page, 'invocations');
  await store.invocations.begin(second);
  await store.invocations.end(second, 'succeeded', { output: '{"title":"Example"}' });
  await page.getByText('"Example"').waitFor();
  await page.getByText('succeeded', { exact: true }).waitFor();

  await page.goto(`${visits.base}/console/deployments/${id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('row', { name: /stopped/ }).waitFor();
  await finish();
});

test('invocations and apps work on a phone in dark mode and German', async () => {
  const { page, finish } = await visits.begin({ ...PHONE, colorScheme: 'dark', locale: 'de' });
  await page.goto(`${visits.base}/console/invocations`);
  await page.getByLabel('Zustand').selectOption('succeeded');
  await page.getByRole('row', { name: /fehlgeschlagen/ }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'read-page' }).waitFor();
  await visits.shot(page, 'invocations-phone');
  expect(await axeComplaints(page)).toEqual([]);
  await page.getByRole('link', { name: 'read-page' }).click();
  await page.getByRole('heading', { name: 'Ausgabe' }).waitFor();
  await page.getByText('"Example"').waitFor();
  await visits.shot(page, 'invocation-phone');
  expect(await axeComplaints(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await page.goto(`${visits.base}/console/deployments`);
  await page.getByRole('button', { name: 'Von GitHub bereitstellen' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Repository').fill('https://example.com/not-github');
  await dialog.getByLabel('Startdatei').fill('main.exe');
  await dialog.getByRole('button', { name: 'Von GitHub bereitstellen' }).click();
  await dialog.getByText('Prüfe die markierten Felder').waitFor();
  await visits.shot(page, 'github-phone');
  expect(await axeComplaints(page)).toEqual([]);
  await finish();
});

test('an extension is uploaded, downloaded and deleted', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/extensions`);
  await page.getByRole('heading', { name: 'No extensions yet' }).waitFor();
  await page.getByRole('button', { name: 'Upload an extension' }).first().click();
  const dialog = page.getByRole('dialog');
  const file = { name: 'x.zip', mimeType: 'application/zip', buffer: Buffer.from('no archive') };
  await dialog.getByLabel('File').setInputFiles(file);
  await dialog.getByLabel('Name', { exact: true }).fill('Notes');
  await dialog.getByRole('button', { name: 'Upload an extension' }).click();
  await dialog.locator('.field-error').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  const manifest = JSON.stringify({ manifest_version: 3, name: 'Notes', version: '1.0' });
  await dialog.getByLabel('File').setInputFiles({ ...file, buffer: await zip({ 'manifest.json': manifest }) });
  await dialog.getByRole('button', { name: 'Upload an extension' }).click();
  const row = page.getByRole('row', { name: /Notes/ });
  await row.waitFor();
  await visits.shot(page, 'extensions');
  const coming = page.waitForEvent('download');
  await row.getByRole('link', { name: 'Download' }).click();
  const download = await coming;
  expect(download.suggestedFilename()).toMatch(/\.zip$/);
  expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe('PK');
  expect(await axeComplaints(page)).toEqual([]);
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No extensions yet' }).waitFor();
  await finish();
});

test('a pool is created, becomes ready, is replaced and deleted', async () => {
  const { page, finish } = await visits.begin(DESKTOP);
  await page.goto(`${visits.base}/console/browser-pools`);
  await page.getByRole('heading', { name: 'No pools yet' }).waitFor();
  await page.getByRole('button', { name: 'Create a pool' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('quick');
  await dialog.getByLabel('Size').fill('0');
  await dialog.getByRole('switch', { name: 'headless' }).press('Space');
  await dialog.getByRole('button', { name: 'Create a pool' }).click();
  await dialog.locator('.field-error').waitFor();
  await visits.shot(page, 'pool-form');
  await dialog.getByLabel('Size').fill('1');
  await dialog.getByRole('button', { name: 'Create a pool' }).click();
  const row = page.getByRole('row', { name: /quick/ });
  await row.getByText('1 of 1').waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'pools');
  await row.getByRole('button', { name: 'Replace' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replace' }).click();
  await page.getByText('The browsers are being replaced.').waitFor();
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No pools yet' }).waitFor();
  await finish();
});
