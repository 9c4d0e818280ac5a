import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { countVisibleInputs, readAfterEntering } from '../../activities/login/reading/read-after-entering.ts';
import {
  isNetworkIdle,
  waitForRequestsToSettle,
  trackRequests,
  requestsInFlight,
} from '../../activities/login/reading/traffic.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import type { PageReading } from '../../contract/reading.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

/** How long the site takes over what comes after its first answer, in milliseconds. */
const SLOW_MS = 1_500;
const FORM =
  '<label>Code from the text message <input name="code" autocomplete="one-time-code"></label><button>Go on</button>';
/** Asks for leave first, and then for what takes its time: between the two the page waits for nothing. */
const BY_SCRIPT = `document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  await (await fetch('/leave')).text();
  await new Promise((done) => setTimeout(done, 50));
  await fetch('/verify');
  location.assign('/inside-at-once');
});`;
/** Leaves the body of the answer unread. */
const REFUSED = `document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const answer = await fetch('/refuse');
  if (!answer.ok) document.querySelector('form').insertAdjacentHTML('afterbegin', '<p role="alert">Wrong code</p>');
});`;
const PAGES: Record<string, string> = {
  '/redirects': `<title>Log in</title><form method="post" action="/verify-and-redirect">${FORM}</form>`,
  '/by-script': `<title>Log in</title><form>${FORM}</form><script>${BY_SCRIPT}</script>`,
  '/refused': `<title>Log in</title><form>${FORM}</form><script>${REFUSED}</script>`,
  '/leave': 'granted',
};
const INSIDE = '<title>Overview</title><a href="/logout">Log out</a>';

const server: Server = createServer((request, response) => {
  const path = request.url ?? '';
  response.setHeader('content-type', 'text/html');
  if (path === '/verify-and-redirect') response.writeHead(302, { location: '/inside' }).end();
  else if (path === '/refuse') response.writeHead(401, { 'cache-control': 'no-store' }).end('Unauthorized');
  else if (path === '/inside' || path === '/verify') void wait(SLOW_MS).then(() => response.end(INSIDE));
  else response.end(`<!doctype html>${PAGES[path] ?? INSIDE}`);
});
let browser: Browser;
let site: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  site = `http://127.0.0.1:${z.object({ port: z.number() }).parse(server.address()).port}`;
  browser = await openViewer();
});
afterAll(async () => {
  await closeViewer(browser);
  server.closeAllConnections();
  server.close();
});

/** Nobody listens there: a visitor whom nobody knows cannot be had. */
const service = createBrowserService({ baseUrl: 'http://127.0.0.1:9', apiKey: 'none' });

/** Types a code, presses, and answers where the page is once its requests have settled, and what it reads as then. */
async function answered(path: string): Promise<{ settledAt: string; reading: PageReading; isIdle: boolean }> {
  const page: Page = await browser.newPage();
  trackRequests(page);
  const { signal } = new AbortController();
  try {
    await page.goto(site + path);
    await page.fill('input', '123456');
    const inputs = await countVisibleInputs(page);
    const before = { page, url: page.url(), inputs, inFlight: requestsInFlight(page), error: null, alerts: [] };
    await waitForRequestsToSettle(page, () => page.evaluate("document.querySelector('form').requestSubmit()"), signal);
    const settledAt = new URL(page.url()).pathname;
    const pages = { of: () => Promise.resolve(page), release: () => Promise.resolve(), close: () => Promise.resolve() };
    const target = { projectId: 'p', browser: null, domain: '127.0.0.1' };
    const reading = await readAfterEntering({ pages, service }, target, 's', 'login', before, signal);
    return { settledAt, reading, isIdle: isNetworkIdle(page) };
  } finally {
    await page.close();
  }
}

it('waits for the page that a form submission redirects to', async () => {
  expect((await answered('/redirects')).settledAt).toBe('/inside');
});

it('does not ask for a code again while a script waits for its verification', async () => {
  const { reading } = await answered('/by-script');
  expect([reading.kind, new URL(reading.url).pathname]).toEqual(['logged_in', '/inside-at-once']);
});

it('does not wait for the end of a refusal whose body the script leaves unread', async () => {
  const { reading, isIdle } = await answered('/refused');
  expect([reading.website_error, isIdle]).toEqual(['Wrong code', true]);
});
