import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { allowInvalidWebSocketKey } from '../../browser/cdp/client-socket.ts';

const sockets = new WebSocketServer({ noServer: true });
const letIn = allowInvalidWebSocketKey(sockets);
const server = http.createServer().on('upgrade', (request, socket, head) => {
  letIn(request);
  sockets.handleUpgrade(request, socket, head, (client) => client.close());
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

/** The response to a handshake with this key: its status, and the accept value for the key. */
function handshake(key: string | undefined): Promise<[status: number | undefined, accept: string | undefined]> {
  const headers = {
    ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    ...(key === undefined ? {} : { 'sec-websocket-key': key }),
  };
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, headers, agent: false });
    request.on('error', reject);
    request.on('response', (response) => resolve([response.statusCode, undefined]));
    request.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve([response.statusCode, response.headers['sec-websocket-accept']]);
    });
  });
}

it.each([
  // The example of RFC 6455, section 1.3.
  ['dGhlIHNhbXBsZSBub25jZQ==', 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='],
  // What rod sends.
  ['nil', 'Q67D9eATKx531lK8F7u2rqQNnNI='],
])('accepts the key %s with the matching accept value', async (key, accept) => {
  expect(await handshake(key)).toEqual([101, accept]);
});

it('rejects a handshake without a key', async () => {
  expect(await handshake(undefined)).toEqual([400, undefined]);
});
