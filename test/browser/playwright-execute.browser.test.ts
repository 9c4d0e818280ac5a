import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, containing, eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;
let id: string;
let cdpUrl: string;
it.beforeAll(async ({ service: shared }) => {
  process.env.HOLDFAST_TEST_SECRET = 'a secret of the service';
  service = shared;
  site = await startSite({ '/': '<title>Home</title><input id=a>', '/other': '<title>Other</title>' });
  const session = await service.kernel.browsers.create({ timeout_seconds: 600, telemetry: { enabled: true } });
  id = session.session_id;
  cdpUrl = session.cdp_ws_url;
});
afterAll(() => {
  delete process.env.HOLDFAST_TEST_SECRET;
  site.close();
});

interface Answer {
  result?: unknown;
  tab?: { created: boolean; target_id: string };
}

const run = (code: string, timeoutSec?: number) =>
  service.kernel.browsers.playwright.execute(id, {
    code,
    ...(timeoutSec === undefined ? {} : { timeout_sec: timeoutSec }),
  });

describe('code run in a session', () => {
  it('drives its page and returns its result and output', async () => {
    const answer = await run(`
      const address: string = '${site.origin}/';
      await page.goto(address);
      await page.fill('#a', 'typed');
      console.log('said', 1);
      console.error('complained');
      return { title: await page.title(), value: await page.inputValue('#a'),
        same: page.context() === context && context.browser() === browser, pages: context.pages().length };
    `);
    expect(answer).toEqual({
      success: true,
      result: { title: 'Home', value: 'typed', same: true, pages: 1 },
      stdout: 'said 1\n',
      stderr: 'complained\n',
      tab: { created: false, target_id: expect.any(String) as string },
    });
    // The page stays as the code left it, and the next code finds it.
    expect((await run(`return page.inputValue('#a')`)).result).toBe('typed');
  });

  it('uses the active page', async () => {
    const browser = await chromium.connectOverCDP(cdpUrl, { noDefaults: true });
    const second = await browser.contexts()[0]?.newPage();
    await second?.goto(`${site.origin}/other`);
    await second?.bringToFront();
    expect((await run('return page.title()')).result).toBe('Other');
    await browser.contexts()[0]?.pages()[0]?.bringToFront();
    expect((await run('return page.title()')).result).toBe('Home');
    await second?.close();
    await browser.close();
  });

  it('reports its errors as results', async () => {
    expect(await run('throw new TypeError("broken")')).toMatchObject({ success: false, error: 'TypeError: broken' });
    expect(await run('const a = ;\nreturn a')).toMatchObject({ success: false, error: containing('line 1') });
    expect(await run('const a = {}; a.a = a; return a')).toMatchObject({ success: false, error: containing('JSON') });
    expect(await run('process.exit(3)')).toMatchObject({ success: false, error: containing('exit code 3') });
    expect(await run('setTimeout(() => { throw new Error("late") }); await new Promise(() => {})')).toMatchObject({
      success: false,
      error: 'Error: late',
    });
    expect(await run('return "x".repeat(9_000_000)')).toMatchObject({ success: false, error: containing('too large') });
    const loud = await run('for (let i = 0; i < 40; i++) console.log("y".repeat(100_000)); return 1');
    expect([loud.result, loud.stdout?.length]).toEqual([1, 1024 * 1024]);
    await expect(run('')).rejects.toMatchObject({ status: 400, message: containing('code') });
    await expect(run('1', 0)).rejects.toMatchObject({ status: 400, message: containing('timeout_sec') });
  });

  it('is killed at its timeout, even in a busy loop', async () => {
    expect(await run('for (;;);', 2)).toMatchObject({ success: false, error: containing('2 seconds') });
    // What was said before is told; where the machine has much to do, the code only begins after a while.
    let said: string | undefined = '';
    for (let seconds = 3; said === '' && seconds < 100; seconds *= 2)
      said = (await run('console.log("here"); await new Promise(() => {})', seconds)).stdout;
    expect(said).toBe('here\n');
    expect((await run('return 1')).result).toBe(1);
    expect((await filesBelow(service.workDir)).filter((name) => name.includes('run-'))).toEqual([]);
  });

  it('cannot reach the service, the machine or its network', async () => {
    const server = http.createServer((_, response) => response.end('reached'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const { result } = await run(`
      const fs = await import('node:fs');
      const read = (place: string) => { try { return fs.readFileSync(place, 'utf8'); } catch (error) { return error.code; } };
      return {
        env: JSON.stringify(process.env) + read('/proc/1/environ') + read('/proc/self/environ'),
        passwd: read('/etc/passwd').includes('session') || read('/etc/shadow'),
        home: fs.readdirSync('/').includes('work'),
        service: await fetch('http://127.0.0.1:${String(port)}/').then((a) => a.text(), () => 'none'),
        uid: process.getuid(),
        write: (() => { try { fs.writeFileSync('/run/holdfast/runner.mjs', ''); return 'written'; } catch { return 'refused'; } })(),
      };
    `);
    expect(result).toMatchObject({ home: false, service: 'none', write: 'refused' });
    expect(JSON.stringify(result)).not.toMatch(/a secret of the service|browser-key/);
    expect(JSON.stringify(result)).not.toContain(API_KEY);
    expect((result as { uid: number }).uid).not.toBe(0);
    server.close();
  });

  it('is guarded like any CDP client', async () => {
    const { result } = await run(`
      const client = await context.newCDPSession(page);
      return client.send('Page.navigate', { url: 'file:///etc/passwd' }).then(() => 'opened', (error) => error.message);
    `);
    expect(result).toContain('refused');
  });

  it('runs one call at a time, and ends with the session', async () => {
    const runs = await Promise.all(
      [1, 2, 3].map((n) =>
        run(`const t = Date.now(); await page.waitForTimeout(50); return [${String(n)}, t, Date.now()]`),
      ),
    );
    const times = runs.map(({ result }) => result as [number, number, number]).sort((a, b) => a[1] - b[1]);
    expect(times.every(([, begin], index) => index === 0 || begin >= (times[index - 1]?.[2] ?? 0))).toBe(true);
    const { session_id: other } = await service.kernel.browsers.create({});
    const code = `(await import('node:fs')).writeFileSync('/home/user/here', ''); await new Promise(() => {})`;
    const long = service.kernel.browsers.playwright.execute(other, { code }).then(
      ({ success }) => success,
      (error: unknown) => error,
    );
    await eventually(() => service.kernel.browsers.fs.fileInfo(other, { path: '/home/user/here' }));
    await service.kernel.browsers.deleteByID(other);
    expect(await long).not.toBe(true);
  });

  it('has its own tab in a named executor, in parallel with others', async () => {
    const { session_id: session } = await service.kernel.browsers.create({ timeout_seconds: 600 });
    const inExecutor = (executor: string | undefined, code: string): Promise<Answer> =>
      service.kernel.post(`/browsers/${session}/playwright/execute`, { body: { code, executor } });
    const button = `<title>Tab</title><button onclick="this.textContent='pressed'">Press</button>`;
    const wait = (name: string) => `
      await page.setContent(${JSON.stringify(button)});
      await page.evaluate((name) => { document.title = name; }, '${name}');
      await page.getByRole('button').click();
      const fs = await import('node:fs');
      const home = process.env.HOME;
      fs.writeFileSync(home + '/${name}', '');
      while (!fs.existsSync(home + '/one') || !fs.existsSync(home + '/two')) await new Promise((go) => setTimeout(go, 10));
      return page.textContent('button');`;
    // Each waits for what the other does: neither would end if they ran one after the other.
    const [one, two] = await Promise.all([inExecutor('one', wait('one')), inExecutor('two', wait('two'))]);
    expect([one.result, one.tab?.created, two.result, two.tab?.created]).toEqual(['pressed', true, 'pressed', true]);
    expect(one.tab?.target_id).not.toBe(two.tab?.target_id);
    // The tab stays with its name, and the page in use is what it was.
    const again = await inExecutor('one', 'return page.title()');
    expect([again.result, again.tab]).toEqual(['one', { created: false, target_id: one.tab?.target_id }]);
    const plain = await inExecutor(undefined, 'return [page.url(), context.pages().length]');
    expect(plain.result).toEqual(['about:blank', 3]);
    expect(await inExecutor('default', 'return 1')).toMatchObject({ tab: plain.tab });
    // A closed tab is opened again.
    await inExecutor('one', 'await page.close()');
    expect((await inExecutor('one', 'return page.url()')).tab).toMatchObject({ created: true });
    await expect(inExecutor('', 'return 1')).rejects.toMatchObject({ status: 400, message: containing('executor') });
    await Promise.all([3, 4, 5, 6, 7, 8].map((n) => inExecutor(String(n), 'return 1')));
    await expect(inExecutor('ninth', 'return 1')).rejects.toMatchObject({
      status: 400,
      message: containing('executor'),
    });
    await inExecutor('two', 'await page.close()');
    expect((await inExecutor('ninth', 'return 1')).result).toBe(1);
    await service.kernel.browsers.deleteByID(session);
  });

  it('is recorded with its code, except in the session of a login', async () => {
    const code = 'return undefined';
    expect(await run(code)).toMatchObject({ success: true });
    const told = async (session: string) =>
      (await service.kernel.browsers.telemetry.events(session, { limit: 100, order: 'desc' })).items.filter((event) =>
        JSON.stringify(event).includes('ExecutePlaywrightCode'),
      );
    await eventually(async () => {
      expect(JSON.stringify(await told(id))).toContain(JSON.stringify({ code }).slice(1, -1));
    });
    const managed = await service.kernel.browsers.create(
      { telemetry: { enabled: true } },
      { headers: { 'x-holdfast-managed-auth': 'true' } },
    );
    await service.kernel.browsers.playwright.execute(managed.session_id, { code });
    await eventually(async () => {
      const events = JSON.stringify(await told(managed.session_id));
      expect(events).toContain('ExecutePlaywrightCode');
      expect(events).not.toContain(code);
    });
    await service.kernel.browsers.deleteByID(managed.session_id);
  });
});

/** Names of what the service keeps for its sessions' processes. */
async function filesBelow(folder: string): Promise<string[]> {
  const sessions = await readdir(folder);
  const lists = await Promise.all(
    sessions.map((name) => readdir(path.join(folder, name, 'Session', 'work')).catch(() => [])),
  );
  return lists.flat();
}
