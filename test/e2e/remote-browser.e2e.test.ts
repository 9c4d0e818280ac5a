import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SANDBOX_USERS } from '../../sandbox/site.ts';
import { freePortBlock } from '../setup/free-port-block.ts';
import { runStandaloneBrowser, type StandaloneBrowser } from '../start/standalone-browser.ts';
import { startProcessTree, type ProcessTree } from './process-tree.ts';
import { until } from './until.ts';

/** Holdfast with a remote browser service that has its own store and none of Holdfast's profiles. */
let remote: StandaloneBrowser;
let tree: ProcessTree;
let dataDir = '';

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-remote-'));
  remote = runStandaloneBrowser({
    HOLDFAST_PORT: String(await freePortBlock(6)),
    HOLDFAST_DATA_DIR: dataDir,
    // All ports, because the sandbox's is not known yet.
    HOLDFAST_ALLOW_PRIVATE_HOSTS: 'localhost',
  });
  const { baseURL, apiKey } = await remote.ready();
  tree = await startProcessTree({ BROWSER_BASE_URL: baseURL, BROWSER_API_KEY: apiKey });
}, 500_000);
afterAll(async () => {
  await tree.remove();
  remote.npm.kill('SIGTERM');
  await remote.ended;
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
});

test('a login on a remote browser service logs in the profile there', { timeout: 200_000 }, async () => {
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl });
  const user = SANDBOX_USERS.find(({ loginPath }) => loginPath === '/login');
  if (user === undefined) throw new Error('the sandbox has no user of the plain login');
  const values = { username: user.username, password: user.password };
  await kernel.credentials.create({ name: 'own', domain: tree.sandboxDomain, values });
  const { id } = await kernel.auth.connections.create({
    profile_name: 'Käufer/1',
    domain: tree.sandboxDomain,
    login_url: `${tree.sandboxUrl}/login`,
    credential: { name: 'own' },
  });
  await kernel.auth.connections.login(id);
  const ended = await until(
    'the end of the login',
    () => kernel.auth.connections.retrieve(id),
    ({ flow_status: status }) => status !== undefined && status !== null && status !== 'IN_PROGRESS',
    120_000,
  );
  expect(ended).toMatchObject({ flow_status: 'SUCCESS', status: 'AUTHENTICATED', can_reauth: true });

  const session = await kernel.browsers.create({ profile: { name: 'Käufer/1' } });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  const page = browser.contexts()[0]?.pages()[0];
  await page?.goto(`${tree.sandboxUrl}/account`);
  expect(await page?.locator('#who').textContent()).toContain(user.username);
  await browser.close();
  await kernel.browsers.deleteByID(session.session_id);
});

test('the page of a login there is shown to the person', { timeout: 200_000 }, async () => {
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl });
  const { id } = await kernel.auth.connections.create({
    profile_name: 'watched',
    domain: tree.sandboxDomain,
    login_url: `${tree.sandboxUrl}/login/press-and-hold`,
  });
  await kernel.auth.connections.login(id);
  const { hosted_url: link } = await until(
    'the puzzle',
    () => kernel.auth.connections.retrieve(id),
    ({ flow_step: step }) => step === 'AWAITING_EXTERNAL_ACTION',
    120_000,
  );
  const url = new URL(link ?? '');
  const headers = { 'x-holdfast-page': '1', 'content-type': 'application/json', origin: url.origin };
  const body = JSON.stringify({ code: url.searchParams.get('code'), attempt: 'a'.repeat(16) });
  const page = `${url.origin}${url.pathname}`;
  const entered = await fetch(`${page}/exchange`, { method: 'POST', headers, body });
  const cookie = entered.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const shown = await fetch(`${page}/picture`, { headers: { ...headers, cookie } });
  expect(shown.status).toBe(200);
  let said = '';
  for await (const part of shown.body ?? []) {
    said += Buffer.from(part).toString('latin1');
    if (/event: frame\ndata: .*\n\n/.test(said)) break;
  }
  expect(said).toMatch(/event: frame\ndata: \{"width":1280,"height":800,"jpeg":"\/9j\//);
  const actions = [{ do: 'key', key: 'Tab', after_ms: 0 }];
  const acted = await fetch(`${page}/hands`, {
    method: 'POST',
    headers: { ...headers, cookie },
    body: JSON.stringify({ actions }),
  });
  expect(await acted.json()).toEqual({ focus: { kind: 'none' } });
  await kernel.auth.connections.delete(id);
});
