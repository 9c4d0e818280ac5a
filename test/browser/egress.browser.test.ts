import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgressPolicy } from '../../egress/policy.ts';
import type { Resolver } from '../../egress/resolve.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { startService } from './service-under-test.ts';

let service: ServiceUnderTest;
let victim: http.Server;
let allowed: http.Server;
let victimPort: number;
let allowedPort: number;
let victimConnections = 0;

const listen = (server: http.Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, '::', () => {
      resolve((server.address() as AddressInfo).port);
    }),
  );

beforeAll(async () => {
  victim = http.createServer((_request, response) => response.end('inside'));
  victim.on('connection', () => (victimConnections += 1));
  allowed = http.createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://x');
    response.setHeader('content-type', 'text/html');
    if (pathname === '/redirect') response.writeHead(302, { location: searchParams.get('to') ?? '/' });
    response.end('allowed');
  });
  [victimPort, allowedPort] = await Promise.all([listen(victim), listen(allowed)]);
  const resolver: Resolver = async (host) => {
    if (host.endsWith('.example')) return [{ address: '127.0.0.1', family: 4 }];
    throw new Error('unknown');
  };
  service = await startService({ policy: createEgressPolicy(`open.example:${String(allowedPort)}`), resolver });
});
afterAll(async () => {
  await service.stop();
  victim.close();
  allowed.close();
});

describe('a browser', () => {
  it('cannot reach private addresses by address, name, redirect, frame, fetch, WebSocket or WebRTC', async () => {
    const session = await service.kernel.browsers.create({ timeout_seconds: 300 });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = browser.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error('no page');
    const home = `http://open.example:${String(allowedPort)}/`;
    await page.goto(home);
    expect(await page.textContent('body')).toBe('allowed');

    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '0.0.0.0',
      '2130706433',
      '0x7f.1',
      '[::ffff:127.0.0.1]',
      'inner.localhost',
      'rebind.example',
      'open.example',
    ];
    victimConnections = 0;
    for (const host of hosts) {
      const url = `http://${host}:${String(victimPort)}/`;
      await page.goto(url).catch(() => undefined);
      expect(await page.textContent('body').catch(() => ''), host).not.toContain('inside');
      await page.goto(`${home}redirect?to=${encodeURIComponent(url)}`).catch(() => undefined);
    }
    await page.goto(home);
    await page.evaluate(async (port) => {
      const origin = `127.0.0.1:${String(port)}`;
      document.body.append(Object.assign(document.createElement('iframe'), { src: `http://${origin}/` }));
      document.body.append(Object.assign(document.createElement('img'), { src: `http://${origin}/x.png` }));
      document.head.append(
        Object.assign(document.createElement('link'), { rel: 'preconnect', href: `http://${origin}` }),
      );
      await fetch(`http://${origin}/`, { mode: 'no-cors' }).catch(() => undefined);
      await new Promise((resolve) => {
        const socket = new WebSocket(`ws://${origin}/`);
        socket.onerror = socket.onopen = resolve;
      });
      const peer = new RTCPeerConnection({
        iceServers: [{ urls: `turn:${origin}?transport=tcp`, username: 'u', credential: 'c' }],
      });
      peer.createDataChannel('x');
      await peer.setLocalDescription(await peer.createOffer());
      while (peer.iceGatheringState !== 'complete') await new Promise(requestAnimationFrame);
    }, victimPort);
    expect(victimConnections).toBe(0);

    // A context of the client's own goes the same way.
    const context = await browser.newContext();
    const second = await context.newPage();
    await second.goto(`http://127.0.0.1:${String(victimPort)}/`).catch(() => undefined);
    expect(victimConnections).toBe(0);
    await expect(browser.newContext({ proxy: { server: 'http://127.0.0.1:1' } })).rejects.toThrow(/proxy/);
    await browser.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('exposes neither host files nor browser internals', async () => {
    const session = await service.kernel.browsers.create({ timeout_seconds: 300 });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    for (const context of [browser.contexts()[0], await browser.newContext()]) {
      const page = await context?.newPage();
      for (const url of [
        'file:///etc/passwd',
        'chrome://version',
        'view-source:http://open.example/',
        'chrome://settings',
      ]) {
        await expect(page?.goto(url), url).rejects.toThrow(/refused|isolated browser context/);
        // Past the guard of commands there is the browser's own list.
        await page
          ?.evaluate((target) => {
            location.href = target;
          }, url)
          .catch(() => undefined);
        await page
          ?.evaluate((target) => {
            window.open(target);
          }, url)
          .catch(() => undefined);
      }
      for (const each of context?.pages() ?? []) {
        expect(await each.evaluate(() => document.body.innerText)).not.toMatch(/root:|Command Line/);
      }
    }
    await browser.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });
});
