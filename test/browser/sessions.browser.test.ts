import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';
import puppeteer from 'puppeteer-core';
import { afterAll, describe, expect } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, containing, eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': '<title>Home</title><h1>Home</h1>' });
});
afterAll(() => {
  site.close();
});

describe('sessions through the SDK', () => {
  it('creates, reads, lists, updates and deletes', async () => {
    const created = await service.kernel.browsers.create({
      name: 'my browser',
      tags: { team: 'a' },
      timeout_seconds: 30,
      viewport: { width: 800, height: 600 },
      start_url: `${site.origin}/`,
    });
    expect(created).toMatchObject({
      name: 'my browser',
      tags: { team: 'a' },
      timeout_seconds: 30,
      viewport: { width: 800, height: 600 },
      headless: true,
      stealth: false,
      region: 'us-east',
      memory: '1GiB',
    });
    expect(created.cdp_ws_url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/browsers\/brw_\w+\/cdp\?jwt=/);
    await eventually(() => expect(site.requests).toContain('/'));

    const read = await service.kernel.browsers.retrieve(created.session_id);
    expect(read.session_id).toBe(created.session_id);
    expect((await service.kernel.browsers.retrieve('my browser')).session_id).toBe(created.session_id);
    const listed = await service.kernel.browsers.list({ tags: { team: 'a' } });
    expect(listed.getPaginatedItems().map((item) => item.session_id)).toEqual([created.session_id]);
    expect((await service.kernel.browsers.list({ tags: { team: 'b' } })).getPaginatedItems()).toEqual([]);
    // Members of newer clients: a session's response may be sent back as a request.
    const inRegion = (region: string) => service.kernel.get<unknown[]>('/browsers', { query: { region } });
    expect([await inRegion('us-east'), await inRegion('eu-west')]).toMatchObject([[{ region: 'us-east' }], []]);
    const again = await service.kernel.post<{ session_id: string }>('/browsers', {
      body: { headless: true, region: 'us-east', memory: '4GiB' },
    });
    expect(again).toMatchObject({ region: 'us-east', memory: '4GiB' });
    await service.kernel.browsers.deleteByID(again.session_id);

    const updated = await service.kernel.browsers.update(created.session_id, { name: '', tags: { team: 'c' } });
    expect(updated.name).toBeUndefined();
    expect(updated.tags).toEqual({ team: 'c' });

    // A field of newer clients.
    const sendTo = (start_url: string): Promise<unknown> =>
      service.kernel.patch(`/browsers/${created.session_id}`, { body: { start_url } });
    await expect(sendTo('http://10.0.0.1/')).rejects.toMatchObject({ status: 400 });
    await sendTo('');
    await sendTo(`${site.origin}/later`);
    await eventually(() => expect(site.requests).toContain('/later'));

    await service.kernel.browsers.deleteByID(created.session_id);
    await expect(service.kernel.browsers.retrieve(created.session_id)).rejects.toMatchObject({ status: 404 });
    await expect(service.kernel.browsers.deleteByID(created.session_id)).rejects.toMatchObject({ status: 404 });
    const deleted = await service.kernel.browsers.retrieve(created.session_id, { include_deleted: true });
    expect(deleted.deleted_at).toBeDefined();
    expect(await readdir(path.join(service.workDir, 'sessions'))).toEqual([]);
  });

  it('names the invalid field', async () => {
    const ask = async (body: unknown): Promise<{ status: number; code: string; message: string }> => {
      const response = await fetch(`${service.handle.url}/browsers`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, ...((await response.json()) as { code: string; message: string }) };
    };
    expect(await ask({ viewport: { width: 800, height: 600, colour: 'red' } })).toMatchObject({
      status: 400,
      code: 'invalid_input',
      message: containing('colour'),
    });
    expect(await ask({ timeout_seconds: 1 })).toMatchObject({
      status: 400,
      message: containing('timeout_seconds'),
    });
    expect(await ask({ profile: {} })).toMatchObject({ status: 400, message: containing('profile') });
    expect(await ask({ profile: { name: 'nobody' } })).toMatchObject({
      status: 404,
      message: containing('profile'),
    });
    expect(await ask({ start_url: 'file:///etc/passwd' })).toMatchObject({
      status: 400,
      message: containing('start_url'),
    });
    expect(await ask({ start_url: 'http://10.0.0.1/' })).toMatchObject({
      status: 400,
      message: containing('start_url'),
    });
    expect(await ask({ proxy_id: 'p' })).toMatchObject({ status: 400, message: containing('proxy_id') });
    expect(await ask({ gpu: true })).toMatchObject({ status: 400, message: containing('gpu') });
  });

  it('answers 401 without the key, and 404 for an unknown session', async () => {
    expect((await fetch(`${service.handle.url}/browsers`)).status).toBe(401);
    expect((await fetch(`${service.handle.url}/health`)).status).toBe(200);
    await expect(service.kernel.browsers.playwright.execute('brw_none', { code: '1' })).rejects.toMatchObject({
      status: 404,
    });
  });
});

describe('the CDP URL', () => {
  it('serves Playwright in the profile’s browser context', async () => {
    const session = await service.kernel.browsers.create({ stealth: true, viewport: { width: 1024, height: 700 } });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = browser.contexts()[0]?.pages()[0];
    await page?.goto(`${site.origin}/`);
    expect(await page?.title()).toBe('Home');
    expect(await page?.evaluate(() => [innerWidth, innerHeight])).toEqual([1024, 700]);
    expect(await page?.evaluate(() => [navigator.webdriver, navigator.userAgent.includes('Headless')])).toEqual([
      false,
      false,
    ]);
    await browser.close();
    const again = await chromium.connectOverCDP(session.cdp_ws_url);
    expect(again.contexts()[0]?.pages()).toHaveLength(1);
    await again.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('serves Puppeteer, and keeps the session running when it closes the browser', async () => {
    const session = await service.kernel.browsers.create();
    const browser = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
    const page = await browser.newPage();
    await page.goto(`${site.origin}/`);
    expect(await page.title()).toBe('Home');
    await browser.close();
    expect((await service.kernel.browsers.retrieve(session.session_id)).session_id).toBe(session.session_id);
    await service.kernel.browsers.deleteByID(session.session_id);
  });
});
