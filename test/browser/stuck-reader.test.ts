import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEventStream } from '../../http/event-stream.ts';
import { sendStream } from '../../browser/http/replies.ts';
import { disconnectWhenStalled } from '../../http/slow-clients.ts';
import { eventually } from './service-under-test.ts';

/** When stuck readers are disconnected, in milliseconds, instead of a minute. */
const STUCK_AFTER_MS = 1_000;
const PIECE = Buffer.alloc(64 * 1024, 'x');
/** More than the socket buffers hold. */
const PIECES = 1_000;
const PAUSE_AFTER_BYTES = 1024 * 1024;

let app = Fastify();
/** How many times the session is in use. */
let uses = 0;
/** Responses whose source is open. */
let sources = 0;
const onEnd = new Set<() => void>();
const session = {
  activity: { begin: () => ((uses += 1), () => void (uses -= 1)) },
  onEnd,
};

beforeEach(async () => {
  [app, uses, sources] = [Fastify({ forceCloseConnections: true }), 0, 0];
  app.get('/file', (_, reply) => sendStream(reply, session, source(), STUCK_AFTER_MS));
  app.get('/silent', (_, reply) => sendStream(reply, session, source(STUCK_AFTER_MS * 3), STUCK_AFTER_MS));
  app.get('/video', (_, reply) => {
    disconnectWhenStalled(reply.raw, STUCK_AFTER_MS);
    return reply.send(source());
  });
  app.get('/events', async (_, reply) => {
    const stream = openEventStream(reply, { stuckAfterMs: STUCK_AFTER_MS });
    sources += 1;
    while (!stream.closed()) await stream.send(`data: ${PIECE.toString()}\n\n`);
    sources -= 1;
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(() => app.close());

it.each(['/file', '/video', '/events'])(
  'disconnects a stuck reader of %s, and keeps nothing open for it',
  async (path) => {
    const response = await open(path);
    response.pause();
    expect([sources, uses]).toEqual([1, path === '/file' ? 1 : 0]);
    await eventually(() => {
      expect([sources, uses, onEnd.size]).toEqual([0, 0, 0]);
    });
    await expect(read(response)).rejects.toThrow('aborted');
  },
);

it('a slow reader gets everything, and a silent source does not cut readers off', async () => {
  const slow = await open('/file');
  let bytes = 0;
  let sincePause = 0;
  for await (const piece of slow) {
    bytes += (piece as Buffer).length;
    sincePause += (piece as Buffer).length;
    // In total far longer than the limit for a stuck reader.
    if (sincePause > PAUSE_AFTER_BYTES) await new Promise((resolve) => setTimeout(resolve, STUCK_AFTER_MS / 20));
    if (sincePause > PAUSE_AFTER_BYTES) sincePause = 0;
  }
  expect(bytes).toBe(PIECES * PIECE.length);
  expect(await read(await open('/silent'))).toBe(PIECES * PIECE.length);
});

/** A stream that is silent for a while in the middle. */
function source(silenceMs = 0): Readable {
  const pieces = async function* (): AsyncGenerator<Buffer> {
    sources += 1;
    try {
      for (let count = 0; count < PIECES; count += 1) {
        if (count === PIECES / 2) await new Promise((resolve) => setTimeout(resolve, silenceMs));
        yield PIECE;
      }
    } finally {
      sources -= 1;
    }
  };
  return Readable.from(pieces());
}

async function open(path: string): Promise<http.IncomingMessage> {
  const { port } = app.server.address() as AddressInfo;
  const request = http.get({ port, path, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return response;
}

async function read(response: http.IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const piece of response) bytes += (piece as Buffer).length;
  return bytes;
}
