import http from 'node:http';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fetch } from 'undici';
import { createGuardedDispatcher } from '../../egress/guard.ts';
import { createEgressPolicy, PUBLIC_ONLY } from '../../egress/policy.ts';
import type { EgressProxy } from '../../egress/proxy.ts';
import { startEgressProxy } from '../../egress/proxy.ts';
import type { Resolver } from '../../egress/resolve.ts';

let victim: http.Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  victim = http.createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${String(port)}/` });
    response.end('reached');
  });
  victim.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => victim.listen(0, '::', resolve));
  port = (victim.address() as AddressInfo).port;
});
afterAll(() => victim.close());

/** Sends raw bytes to the proxy, as a browser that does not normalize would, and gives the status line. */
function ask(proxy: EgressProxy, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port: proxyPort } = new URL(proxy.url);
    const socket = net.connect(Number(proxyPort), hostname, () => socket.write(request));
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.setTimeout(5_000, () => socket.destroy());
  });
}
const connect = (proxy: EgressProxy, authority: string): Promise<string> =>
  ask(proxy, `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
const get = (proxy: EgressProxy, url: string): Promise<string> =>
  ask(proxy, `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);

const SPELLINGS = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.1',
  '0',
  '0.0.0.0',
  '127.255.255.254',
  '127.0.0.1.',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '10.0.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '100.64.0.1',
  '192.168.0.1',
  '224.0.0.1',
];

describe('the egress proxy', () => {
  it('makes no connection for 32 spellings of forbidden addresses, by CONNECT or GET', async () => {
    expect(SPELLINGS).toHaveLength(32);
    const proxy = await startEgressProxy({ policy: PUBLIC_ONLY });
    connections = 0;
    try {
      for (const host of SPELLINGS) {
        const tunnel = await connect(proxy, `${host}:${String(port)}`);
        expect(tunnel, host).toMatch(/^HTTP\/1\.1 (403|502|400)/);
        const plain = await get(proxy, `http://${host}:${String(port)}/`);
        expect(plain, host).toMatch(/^HTTP\/1\.1 (403|502|400)/);
      }
      expect(connections).toBe(0);
    } finally {
      await proxy.close();
    }
  });

  it('gives the reason with a 403', async () => {
    const proxy = await startEgressProxy({ policy: PUBLIC_ONLY });
    const answer = await get(proxy, `http://127.0.0.1:${String(port)}/secret-path`);
    await proxy.close();
    expect(answer).toMatch(/^HTTP\/1\.1 403/);
    expect(answer).toContain('HOLDFAST_ALLOW_PRIVATE_HOSTS');
    expect(answer).not.toContain('secret-path');
  });

  it('refuses a name when any of its addresses is forbidden, and never resolves twice', async () => {
    let asked = 0;
    const rebinding: Resolver = () => {
      asked += 1;
      return Promise.resolve(
        asked === 1
          ? [
              { address: '93.184.216.34', family: 4 },
              { address: '127.0.0.1', family: 4 },
            ]
          : [{ address: '127.0.0.1', family: 4 }],
      );
    };
    const proxy = await startEgressProxy({ policy: PUBLIC_ONLY, resolver: rebinding });
    connections = 0;
    expect(await connect(proxy, `rebind.example:${String(port)}`)).toMatch(/^HTTP\/1\.1 403/);
    expect(asked).toBe(1);
    expect(connections).toBe(0);
    await proxy.close();
  });

  it('connects to a listed host only on its listed port', async () => {
    const policy = createEgressPolicy(`inside.example:${String(port)}`);
    const resolver: Resolver = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const proxy = await startEgressProxy({ policy, resolver });
    expect(await get(proxy, `http://inside.example:${String(port)}/`)).toContain('reached');
    expect(await get(proxy, `http://inside.example:${String(port + 1)}/`)).toMatch(/^HTTP\/1\.1 403/);
    expect(await get(proxy, `http://other.example:${String(port)}/`)).toMatch(/^HTTP\/1\.1 403/);
    await proxy.close();
  });

  it('answers 502 for a name that does not resolve', async () => {
    const proxy = await startEgressProxy({ policy: PUBLIC_ONLY, resolver: () => Promise.reject(new Error('no')) });
    expect(await get(proxy, 'http://nowhere.invalid/')).toMatch(/^HTTP\/1\.1 502/);
    await proxy.close();
  });
});

describe('the guarded dispatcher', () => {
  it('refuses forbidden addresses, by name, by literal and by redirect', async () => {
    const resolver: Resolver = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const dispatcher = createGuardedDispatcher(createEgressPolicy(`listed.example:${String(port)}`), resolver);
    connections = 0;
    for (const host of ['127.0.0.1', '[::1]', 'anything.example', '0x7f.1']) {
      await expect(fetch(`http://${host}:${String(port)}/`, { dispatcher }), host).rejects.toThrow();
    }
    expect(connections).toBe(0);
    const listed = await fetch(`http://listed.example:${String(port)}/`, { dispatcher });
    expect(await listed.text()).toBe('reached');
    connections = 0;
    await expect(fetch(`http://listed.example:${String(port)}/redirect`, { dispatcher })).rejects.toThrow();
    expect(connections).toBeLessThanOrEqual(1);
    await dispatcher.close();
  });
});
