import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { keepAlive } from '../../browser/cdp/client-socket.ts';

const MINUTE_MS = 60_000;

let server: WebSocketServer;
let client: WebSocket;
let served: WebSocket;
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  client = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  [[served]] = await Promise.all([connected, once(client, 'open')]);
  keepAlive(served);
});
afterEach(() => {
  vi.useRealTimers();
  client.terminate();
  server.close();
});

describe('a client that is pinged', () => {
  it('may be busy for minutes', async () => {
    client.pause();
    vi.advanceTimersByTime(14 * MINUTE_MS);
    expect(served.readyState).toBe(WebSocket.OPEN);
    const answered = once(served, 'pong');
    client.resume();
    await answered;
    client.pause();
    vi.advanceTimersByTime(14 * MINUTE_MS);
    expect(served.readyState).toBe(WebSocket.OPEN);
  });

  it('counts as alive when it sends anything', async () => {
    const said = once(served, 'message');
    client.pause();
    vi.advanceTimersByTime(14 * MINUTE_MS);
    client.send('a word');
    await said;
    vi.advanceTimersByTime(14 * MINUTE_MS);
    expect(served.readyState).toBe(WebSocket.OPEN);
  });

  it('is terminated when it has been silent for too long', async () => {
    client.pause();
    const closed = once(served, 'close');
    vi.advanceTimersByTime(16 * MINUTE_MS);
    await closed;
  });
});
