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

/** Holdfast on a browser service elsewhere, which has another store and knows nothing of Holdfast's profiles. */
let remote: StandaloneBrowser;
let tree: ProcessTree;
let dataDir = '';

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'holdfast-remote-'));
  remote = runStandaloneBrowser({
    HOLDFAST_PORT: String(await freePortBlock(6)),
    HOLDFAST_DATA_DIR: dataDir,
    // All its ports: the sandbox's is not known yet.
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
