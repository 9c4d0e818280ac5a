import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/': '<title>off</title><script>document.title = "on"</script>',
    '/shut': '<title>shut</title>',
  });
});
afterAll(() => {
  site.close();
});

describe('chrome_policy', () => {
  it.each([true, false])('applies to its own session only (headless %s)', async (headless) => {
    const before = await readdir('/etc/chromium').catch(() => []);
    const policy = { DefaultJavaScriptSetting: 2, URLBlocklist: ['localhost/shut'] };
    const [ruled, free] = await Promise.all([
      service.kernel.browsers.create({ headless, chrome_policy: policy }),
      service.kernel.browsers.create({ headless }),
    ]);
    expect(ruled.chrome_policy).toEqual(policy);
    expect(free.chrome_policy).toBeUndefined();
    const see = async (cdpUrl: string): Promise<unknown[]> => {
      const browser = await chromium.connectOverCDP(cdpUrl, { noDefaults: true });
      const page = browser.contexts()[0]?.pages()[0];
      await page?.goto(`${site.origin}/`);
      const title = await page?.title();
      const shut = await page?.goto(`${site.origin}/shut`).then(
        () => 'open',
        (error: unknown) => /ERR_\w+/.exec(String(error))?.[0],
      );
      await browser.close();
      return [title, shut];
    };
    expect(await see(ruled.cdp_ws_url)).toEqual(['off', 'ERR_BLOCKED_BY_ADMINISTRATOR']);
    expect(await see(free.cdp_ws_url)).toEqual(['on', 'open']);
    expect(await readdir('/etc/chromium').catch(() => [])).toEqual(before);
    expect(existsSync('/etc/chromium/policies/managed/session.json')).toBe(false);

    for (const session of [ruled, free]) await service.kernel.browsers.deleteByID(session.session_id);
    expect(await readdir(path.join(service.workDir, 'sessions'))).toEqual([]);
  });

  it('cannot override the service’s control of the browser, and a refusal starts no browser', async () => {
    await expect(
      service.kernel.browsers.create({ chrome_policy: { ProxySettings: { ProxyMode: 'direct' } } }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('chrome_policy.ProxySettings') as string });
    expect((await service.kernel.browsers.list()).getPaginatedItems()).toEqual([]);
  });
});
