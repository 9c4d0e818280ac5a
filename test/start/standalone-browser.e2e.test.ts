import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePortBlock } from '../setup/free-port-block.ts';
import { runStandaloneBrowser, type StandaloneBrowser } from './standalone-browser.ts';

describe('npm run browser, standalone', () => {
  const all: StandaloneBrowser[] = [];
  const site = http.createServer((request, response) => {
    response.setHeader('set-cookie', 'seen=yes; Max-Age=86400');
    response.end(`<p>${request.headers.cookie ?? 'a stranger'}</p>`);
  });
  let address = '';
  let dataDir = '';
  let port = 0;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-lone-'));
    port = await freePortBlock(6);
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    for (const { npm } of all) npm.kill('SIGTERM');
    await Promise.all(all.map(({ ended }) => ended));
    site.closeAllConnections();
    site.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  });

  function run(): StandaloneBrowser {
    const started = runStandaloneBrowser({
      HOLDFAST_PORT: `${port}`,
      HOLDFAST_DATA_DIR: dataDir,
      HOLDFAST_ALLOW_PRIVATE_HOSTS: address,
    });
    all.push(started);
    return started;
  }

  async function visit(kernel: Kernel): Promise<string | null> {
    const session = await kernel.browsers.create({ profile: { name: 'my own', save_changes: true } });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = browser.contexts()[0]?.pages()[0];
    await page?.goto(`http://${address}/`);
    const text = (await page?.textContent('p')) ?? null;
    await browser.close();
    await kernel.browsers.deleteByID(session.session_id);
    return text;
  }

  test(
    'serves browsers and their profiles by the SDK, and keeps them over a kill -9',
    { timeout: 400_000 },
    async () => {
      const first = run();
      const kernel = new Kernel({ ...(await first.ready()), maxRetries: 0 });
      const profile = await kernel.profiles.create({ name: 'my own' });
      await expect(kernel.profiles.create({ name: 'my own' })).rejects.toMatchObject({ status: 409 });
      expect(await kernel.profiles.retrieve('my own')).toMatchObject({ id: profile.id, name: 'my own' });
      expect(await visit(kernel)).toBe('a stranger');

      const supervisor = Number(/process (\d+)/.exec(await refusal())?.[1]);
      process.kill(supervisor, 'SIGKILL');
      await first.ended;
      const second = run();
      const again = new Kernel({ ...(await second.ready()), maxRetries: 0 });
      expect(await visit(again)).toBe('seen=yes');

      expect((await again.profiles.list()).getPaginatedItems().map(({ name }) => name)).toEqual(['my own']);
      expect(await again.profiles.update('my own', { name: 'another' })).toMatchObject({ id: profile.id });
      await again.profiles.delete('another');
      await expect(again.profiles.retrieve('another')).rejects.toMatchObject({ status: 404 });
      await expect(again.browsers.create({ profile: { name: 'another' } })).rejects.toMatchObject({ status: 404 });

      second.npm.kill('SIGTERM');
      expect(await second.ended).toBe(0);
    },
  );

  /** What a start of everything says on a folder that the lone service has. */
  async function refusal(): Promise<string> {
    const npm = spawn('npm', ['start'], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, HOLDFAST_DATA_DIR: dataDir },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let text = '';
    npm.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await new Promise((resolve) => npm.once('close', resolve));
    return text;
  }
});
