import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProxyAgent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEgressPolicy, type EgressPolicy } from '../../egress/policy.ts';
import { startEgressProxy, type EgressProxy } from '../../egress/proxy.ts';
import type { Resolver } from '../../egress/resolve.ts';
import { bypasses, upstreamUrl, type Upstream } from '../../egress/upstream.ts';
import { createUpstreamCheck } from '../../egress/upstream-check.ts';
import { startUpstreamProxy, UPSTREAM_LOGIN, type UpstreamProxy } from './upstream-proxy.ts';

let site: http.Server;
let secure: https.Server;
let upstream: UpstreamProxy;
let sitePort = 0;
let securePort = 0;
let siteConnections = 0;
let policy: EgressPolicy;
let tls: { key: string; cert: string };

const listen = (server: net.Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, () => resolve((server.address() as AddressInfo).port)));

/** Certificate for `localhost`, made on the spot. */
function selfSigned(): { key: string; cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'hf-tls-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  const options = [
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  execFileSync('openssl', ['req', '-x509', ...options, '-addext', 'subjectAltName=DNS:localhost'], { stdio: 'ignore' });
  const made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return made;
}

beforeAll(async () => {
  tls = selfSigned();
  site = http.createServer((_request, response) => response.end('reached'));
  secure = https.createServer(tls, (_request, response) => response.end('reached safely'));
  site.on('connection', () => (siteConnections += 1));
  [sitePort, securePort] = [await listen(site), await listen(secure)];
  upstream = await startUpstreamProxy(['only.upstream.test', 'only.secure.test']);
  policy = createEgressPolicy(`localhost:${upstream.port},listed.test`);
});
afterAll(async () => {
  await upstream.close();
  site.close();
  secure.close();
});

const resolver: Resolver = async (host) => {
  if (host === 'localhost' || host.endsWith('.inner.test') || host === 'listed.test') {
    return [{ address: '127.0.0.1', family: 4 }];
  }
  throw new Error('unknown');
};

function office(overrides: Partial<Upstream> = {}): Upstream {
  return { protocol: 'http', host: 'localhost', port: upstream.port, ...UPSTREAM_LOGIN, bypassHosts: [], ...overrides };
}

async function fetchThrough(egress: EgressProxy, url: string): Promise<{ status: number; text: string }> {
  const dispatcher = new ProxyAgent({
    uri: egress.url,
    proxyTunnel: url.startsWith('https:'),
    requestTls: { rejectUnauthorized: false },
  });
  try {
    const { statusCode, body } = await request(url, { dispatcher });
    return { status: statusCode, text: await body.text() };
  } finally {
    await dispatcher.destroy();
  }
}

async function withEgress<T>(via: Upstream, use: (egress: EgressProxy) => Promise<T>, timeoutMs?: number): Promise<T> {
  const egress = await startEgressProxy({
    policy,
    resolver,
    upstream: via,
    ...(timeoutMs === undefined ? {} : { tunnelTimeoutMs: timeoutMs }),
  });
  try {
    return await use(egress);
  } finally {
    await egress.close();
  }
}

it('uses an upstream with credentials, for http and https, to names that only it can resolve', async () => {
  upstream.requests.length = 0;
  await withEgress(office(), async (egress) => {
    const plain = await fetchThrough(egress, `http://only.upstream.test:${sitePort}/path`);
    expect(plain).toEqual({ status: 200, text: 'reached' });
    const safe = await fetchThrough(egress, `https://only.secure.test:${securePort}/`);
    expect(safe).toEqual({ status: 200, text: 'reached safely' });
  });
  expect(upstream.requests).toEqual([
    `GET http://only.upstream.test:${sitePort}/path`,
    `CONNECT only.secure.test:${securePort}`,
  ]);
});

it('refuses targets that resolve to private addresses locally, whatever the upstream does with them', async () => {
  upstream.requests.length = 0;
  siteConnections = 0;
  await withEgress(office(), async (egress) => {
    for (const host of ['127.0.0.1', '127.1', '0x7f.1', '2130706433', '[::1]', '169.254.169.254', 'x.inner.test']) {
      const answer = await fetchThrough(egress, `http://${host}:${sitePort}/`);
      expect(answer.status, host).toBe(403);
      await expect(fetchThrough(egress, `https://${host}:${securePort}/`), host).rejects.toThrow();
    }
  });
  expect(siteConnections).toBe(0);
  expect(upstream.requests).toEqual([]);
});

it('refuses an upstream whose own address is private and not listed', async () => {
  for (const host of ['127.0.0.1', 'proxy.inner.test', '::1']) {
    await withEgress(office({ host }), async (egress) => {
      expect((await fetchThrough(egress, `http://only.upstream.test:${sitePort}/`)).status, host).toBe(403);
    });
  }
  upstream.requests.length = 0;
  await withEgress(office({ host: 'nowhere.test' }), async (egress) => {
    expect((await fetchThrough(egress, `http://only.upstream.test:${sitePort}/`)).status).toBe(502);
  });
  expect(upstream.requests).toEqual([]);
});

it('lets listed hosts bypass the upstream, still guarded', async () => {
  const via = office({ bypassHosts: ['listed.test', '*.inner.test'] });
  upstream.requests.length = 0;
  await withEgress(via, async (egress) => {
    expect(await fetchThrough(egress, `http://listed.test:${sitePort}/`)).toMatchObject({ text: 'reached' });
    expect((await fetchThrough(egress, `http://x.inner.test:${sitePort}/`)).status).toBe(403);
  });
  expect(upstream.requests).toEqual([]);
  expect(bypasses(via, 'LISTED.test.')).toBe(true);
  expect(bypasses(via, 'sub.listed.test')).toBe(false);
  expect(bypasses(via, 'inner.test')).toBe(false);
  expect(bypasses(via, 'notinner.test')).toBe(false);
});

it('fails without hanging on a wrong password, a dead upstream and one that never responds', async () => {
  const wrong = office({ password: 'wrong' });
  await withEgress(wrong, async (egress) => {
    expect((await fetchThrough(egress, `http://only.upstream.test:${sitePort}/`)).status).toBe(597);
    await expect(fetchThrough(egress, `https://only.secure.test:${securePort}/`)).rejects.toThrow();
  });
  const silent = net.createServer();
  const silentPort = await listen(silent);
  const dead = net.createServer();
  const deadPort = await listen(dead);
  await new Promise((resolve) => dead.close(resolve));
  const open = createEgressPolicy(`localhost:${silentPort},localhost:${deadPort}`);
  for (const port of [silentPort, deadPort]) {
    const egress = await startEgressProxy({ policy: open, resolver, upstream: office({ port }), tunnelTimeoutMs: 200 });
    await expect(fetchThrough(egress, `https://only.secure.test:${securePort}/`), String(port)).rejects.toThrow();
    await egress.close();
  }
  silent.close();
});

it('switches its upstream while running, and closes connections through the previous one', async () => {
  const second = await startUpstreamProxy(['only.upstream.test']);
  const both = createEgressPolicy(`localhost:${upstream.port},localhost:${second.port}`);
  const egress = await startEgressProxy({ policy: both, resolver, upstream: office() });
  const socket = net.connect(Number(new URL(egress.url).port), '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const opened = new Promise((resolve) => socket.once('data', resolve));
  socket.write(`CONNECT only.upstream.test:${sitePort} HTTP/1.1\r\n\r\n`);
  await opened;
  egress.route(office({ port: second.port }));
  await closed;
  expect(await fetchThrough(egress, `http://only.upstream.test:${sitePort}/`)).toMatchObject({ text: 'reached' });
  expect(second.requests).toHaveLength(1);
  egress.route(null);
  expect((await fetchThrough(egress, `http://only.upstream.test:${sitePort}/`)).status).toBe(502);
  await egress.close();
  await second.close();
});

it('uses TLS to an https upstream, and rejects untrusted certificates', async () => {
  const safe = await startUpstreamProxy(['only.upstream.test'], tls);
  const listed = createEgressPolicy(`localhost:${safe.port}`);
  const via = office({ protocol: 'https', port: safe.port });
  const strict = await startEgressProxy({ policy: listed, resolver, upstream: via });
  expect((await fetchThrough(strict, `http://only.upstream.test:${sitePort}/`)).status).toBe(599);
  await strict.close();
  expect(safe.requests).toEqual([]);
  const trusting = await startEgressProxy({ policy: listed, resolver, upstream: via, upstreamCa: tls.cert });
  expect(await fetchThrough(trusting, `http://only.upstream.test:${sitePort}/`)).toMatchObject({ text: 'reached' });
  expect(await fetchThrough(trusting, `http://only.upstream.test:${sitePort}/`)).toMatchObject({ text: 'reached' });
  await trusting.close();
  expect(safe.requests).toHaveLength(2);
  await safe.close();
});

it("checks an upstream with a default target or the caller's, which must be public", async () => {
  const open = createEgressPolicy(`localhost:${upstream.port},listed.test`);
  const check = createUpstreamCheck({ policy: open, resolver, defaultUrl: `http://only.upstream.test:${sitePort}/` });
  expect(await check(office())).toBe(true);
  expect(await check(office({ password: 'wrong' }))).toBe(false);
  expect(await check(office({ password: null }))).toBe(false);
  expect(await check(office({ host: '127.0.0.1' }))).toBe(false);
  // The check is of the proxy: it does not go past it.
  expect(
    await check(office({ password: 'wrong', bypassHosts: ['listed.test'] }), `http://listed.test:${sitePort}/`),
  ).toBe(false);
  for (const url of ['ftp://listed.test/', 'http://127.0.0.1/', 'http://x.inner.test/', 'http://nowhere.test/']) {
    await expect(check(office(), url), url).rejects.toMatchObject({ code: 'invalid_input' });
  }
  const silent = net.createServer();
  const port = await listen(silent);
  const impatient = createUpstreamCheck({ policy: createEgressPolicy(`localhost:${port}`), resolver, timeoutMs: 200 });
  expect(await impatient(office({ port }))).toBe(false);
  silent.close();
});

it('encodes any credentials in the URL of an upstream', () => {
  const url = new URL(upstreamUrl(office({ host: '2001:db8::1', port: 3128 })));
  expect(url.host).toBe('[2001:db8::1]:3128');
  expect(decodeURIComponent(url.username)).toBe(UPSTREAM_LOGIN.username);
  expect(decodeURIComponent(url.password)).toBe(UPSTREAM_LOGIN.password);
  expect(upstreamUrl(office({ username: null, password: null }))).not.toContain('@');
});

it('reports failures of the upstream, and its recovery', async () => {
  const told: (string | null)[] = [];
  const dead = net.createServer();
  const deadPort = await listen(dead);
  await new Promise((resolve) => dead.close(resolve));
  const rude = net.createServer((socket) => socket.end());
  const rudePort = await listen(rude);
  const busy = http.createServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
  const busyPort = await listen(busy);
  const silent = net.createServer();
  const silentPort = await listen(silent);
  const ports = [upstream.port, deadPort, rudePort, busyPort, silentPort].map((port) => `localhost:${port}`);
  const egress = await startEgressProxy({
    policy: createEgressPolicy(ports.join(',')),
    resolver,
    tunnelTimeoutMs: 200,
  });
  const plain = `http://only.upstream.test:${sitePort}/`;
  const safe = `https://only.secure.test:${securePort}/`;
  const tellings = async (via: Upstream, url: string): Promise<(string | null)[]> => {
    egress.route(via, (fault) => told.push(fault));
    told.length = 0;
    await fetchThrough(egress, url).catch(() => undefined);
    return [...told];
  };
  expect(await tellings(office(), safe)).toEqual([null]);
  expect(await tellings(office(), plain)).toEqual([]);
  for (const url of [plain, safe]) {
    expect(await tellings(office({ password: 'wrong' }), url), url).toEqual(['credentials_refused']);
    expect(await tellings(office({ port: deadPort }), url), url).toEqual(['unreachable']);
    expect(await tellings(office({ port: rudePort }), url), url).toEqual(['target_unreached']);
    expect(await tellings(office({ host: 'nowhere.test' }), url), url).toEqual(['unreachable']);
    expect(await tellings(office({ host: '127.0.0.1' }), url), url).toEqual(['address_refused']);
    // A target that is not public is no fault of the upstream's.
    expect(await tellings(office(), url.replace('only.', 'x.inner.test/only.')), url).toEqual([]);
  }
  expect(await tellings(office({ port: silentPort }), safe)).toEqual(['unreachable']);
  expect(await tellings(office({ port: busyPort }), safe)).toEqual(['target_unreached']);
  await egress.close();
  for (const server of [silent, rude, busy]) server.close();
});
