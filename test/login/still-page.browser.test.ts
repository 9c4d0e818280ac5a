import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWhenSettled } from '../../activities/login/reading/read-page.ts';
import { trackRequests, isNetworkIdle } from '../../activities/login/reading/traffic.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

/** An application's inside that shows no name and no way out; it may still ask its server for something. */
const inside = (asks: string): string =>
  `<!doctype html><title>Reverser</title><input placeholder="Text"><button>Run</button><button>Clear</button>
  <div role="progressbar" aria-label="CPU" aria-valuenow="42">42% of 2 CPUs</div>
  <script>${asks}</script>`;
const showsForm = (
  afterMs: number,
): string => `setTimeout(() => fetch('/release'), ${afterMs}); fetch('/session').then(() => { document.body.innerHTML =
  '<form><input name="user" placeholder="Username"><input type="password"><button>Sign in</button></form>'; });`;
/** The frame of an application, drawn before it knows who is there. */
const frame = `<!doctype html><title>Processes</title><p>${'The last release of this edition is near. '.repeat(8)}</p>
  <script>${showsForm(3000)}</script>`;
/** Longer than any test may take: whoever waits as long hangs. */
const FOREVER_MS = 3_600_000;

let browser: Browser;
const held: ServerResponse[] = [];
const server = createServer((request, response) => {
  response.setHeader('content-type', request.url === '/events' ? 'text/event-stream' : 'text/html');
  if (request.url === '/session') held.push(response);
  else if (request.url === '/release') for (const each of [...held, response]) each.end('{}');
  else if (request.url === '/events') response.write('data: 1\n\n');
  else
    response.end(
      request.url === '/frame' ? frame : inside(request.url === '/asks' ? showsForm(2500) : `fetch('/events')`),
    );
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  browser = await openViewer();
});
afterAll(async () => {
  await closeViewer(browser);
  server.closeAllConnections();
  server.close();
});

async function open(path: string) {
  const page = await browser.newPage();
  trackRequests(page);
  await page.goto(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}${path}`);
  return page;
}

async function read(path: string) {
  const page = await open(path);
  const reading = readWhenSettled(page, { patienceMs: FOREVER_MS, timeoutMs: FOREVER_MS, stopWhenIdle: true });
  return { page, reading };
}

it('returns a stable page without pending requests, ignoring event streams and gauges', async () => {
  const { page, reading } = await read('/');
  expect(await reading).toMatchObject({ kind: 'other' });
  expect(isNetworkIdle(page)).toBe(true);
});

it('waits for pending responses although the page is stable', async () => {
  const { reading } = await read('/asks');
  expect(await reading).toMatchObject({ kind: 'form' });
});

it('waits while a page with a lot of text queries its session', async () => {
  const limits = { longestMs: FOREVER_MS, timeoutMs: FOREVER_MS };
  expect(await readWhenSettled(await open('/frame'), limits)).toMatchObject({ kind: 'form' });
});
