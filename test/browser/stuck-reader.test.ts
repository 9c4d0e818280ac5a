import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import Fastify from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEventStream } from '../../http/event-stream.ts';
import { sendStream } from '../../browser/http/send-stream.ts';
import { disconnectWhenStalled } from '../../http/slow-clients.ts';
import { eventually } from './service-under-test.ts';

/** Readers are cut off after this, in milliseconds, instead of a minute. */
const STUCK_AFTER_MS = 1_000;
const PIECE = Buffer.alloc(64 * 1024, 'x');
/** More than the sockets' own buffers hold. */
const PIECES = 1_000;
const PAUSE_AFTER_BYTES = 1024 * 1024;

let app = Fastify();
/** How many times the session is in use. */
let uses = 0;
/** Answers whose source is held open. */
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
  'a reader of %s that has stopped is cut off, and nothing stays held',
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

it('a reader who is slow gets all of it, and none waits too long for a source that is silent', async () => {
  const slow = await open('/file');
  let bytes = 0;
  let sincePause = 0;
  for await (const piece of slow) {
    bytes += (piece as Buffer).length;
    sincePause += (piece as Buffer).length;
    // Far longer together than a stuck reader is given.
    if (sincePause > PAUSE_AFTER_BYTES) await new Promise((resolve) => setTimeout(resolve, STUCK_AFTER_MS / 20));
    if (sincePause > PAUSE_AFTER_BYTES) sincePause = 0;
  }
  expect(bytes).toBe(PIECES * PIECE.length);
  expect(await read(await open('/silent'))).toBe(PIECES * PIECE.length);
});

/** Says nothing for so long in the middle. */
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
