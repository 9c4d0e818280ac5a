import { once } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Client, Growth, MeasuredChild } from './measured-child.ts';
import { MB, startMeasured } from './measured-child.ts';
import { API_KEY } from './memory-profiles.ts';

/** What the service may take more meanwhile: what no collection has freed yet, too. */
const MOST_MORE_RESIDENT_MB = 80;
/** What it may hold more of it: its own buffers. */
const MOST_MORE_MB = 20;
/** The same where it consists of answers that take less than what it takes to keep one. */
const MOST_MORE_IN_PIECES_MB = 60;
/** A page's megabytes, ten of them. */
const SAY_TEN_MB = `for (let count = 0; count < 10; count += 1) console.log('x'.repeat(${String(MB)} - count))`;
/** The same in pieces that an event of telemetry takes whole. */
const SAY_TEN_MB_IN_PIECES = `for (let count = 0; count < 1280; count += 1) console.log('x'.repeat(${String(MB / 128)} - 4) + count)`;

/** Amounts to read. */
export interface Floods {
  /** What a page says meanwhile, in MB; more than the service may take. */
  floodMb: number;
  /** What the service answers itself, in MB; each answer has a hundred bytes. */
  answersMb: number;
}

/** Defines the tests of clients that stop reading. */
export function testSlowReaders({ floodMb, answersMb }: Floods): void {
  let service: MeasuredChild;

  beforeAll(async () => {
    service = await startMeasured(inject('chromiumPath'));
  });
  afterAll(async () => {
    await service.stop();
  });

  describe('a client that stops reading blocks nobody, and the service buffers little for it:', () => {
    it('of CDP, flooded with events', { timeout: 300_000 }, async () => {
      const { session, reader, page } = await service.begin();
      const stuck = await service.connect(session.cdp_ws_url);
      await stuck.attach(page);
      stuck.socket.pause();
      expectLittle(await service.growth(() => flood(reader, floodMb)));
      expect(reader.bytes()).toBeGreaterThan(floodMb * MB);
    });

    it('of CDP, with commands that the service itself handles', { timeout: 300_000 }, async () => {
      const { session, reader } = await service.begin();
      const stuck = await upgrade(session.cdp_ws_url, service);
      stuck.pause();
      // Frames of one byte that is no command, each answered with a hundred.
      const frames = Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78])));
      for (let count = 0; count < answersMb / 10; count += 1) stuck.write(frames);
      expectLittle(await service.growth(() => flood(reader, 10)), MOST_MORE_IN_PIECES_MB);
    });

    it('of telemetry', { timeout: 300_000 }, async () => {
      const { session, reader } = await service.begin();
      await service.kernel.browsers.update(session.session_id, {
        telemetry: { browser: { console: { enabled: true } } },
      });
      const request = http.get(`${service.url}/browsers/${session.session_id}/telemetry/stream?replay=all`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      response.on('error', () => undefined).pause();
      const grown = await service.growth(() => flood(reader, floodMb, SAY_TEN_MB_IN_PIECES));
      expectLittle(grown);
      response.destroy();
    });
  });
}

/** Of a small flood, only what is held can be too much. */
function expectLittle({ held, resident }: Growth, most = MOST_MORE_MB): void {
  expect(held).toBeLessThan(most);
  expect(resident).toBeLessThan(MOST_MORE_RESIDENT_MB);
}

/** A WebSocket whose frames are written by hand. */
async function upgrade(address: string, service: MeasuredChild): Promise<Socket> {
  const request = http.get(address.replace(/^ws/, 'http'), {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    },
  });
  const [, socket] = (await once(request, 'upgrade')) as [unknown, Socket];
  socket.on('error', () => undefined);
  service.onStop(() => socket.destroy());
  return socket;
}

async function flood(client: Client, megabytes: number, sayTen = SAY_TEN_MB): Promise<void> {
  for (let said = 0; said <= megabytes; said += 10) await client.evaluate(sayTen);
}
