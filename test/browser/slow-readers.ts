import { once } from 'node:events';
import http from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Client, Growth, MeasuredChild } from './measured-child.ts';
import { MB, startMeasured } from './measured-child.ts';
import { API_KEY } from './memory-profiles.ts';

/** Allowed growth of resident memory, including uncollected garbage. */
const MAX_RESIDENT_GROWTH_MB = 80;
/** Allowed growth of memory in use: buffers. */
const MAX_GROWTH_MB = 20;
/** The same for many responses smaller than their bookkeeping. */
const MAX_GROWTH_IN_PIECES_MB = 60;
/** Logs ten megabytes from a page. */
const LOG_TEN_MB = `for (let count = 0; count < 10; count += 1) console.log('x'.repeat(${String(MB)} - count))`;
/** The same in pieces that fit into a telemetry event. */
const LOG_TEN_MB_IN_PIECES = `for (let count = 0; count < 1280; count += 1) console.log('x'.repeat(${String(MB / 128)} - 4) + count)`;

/** Amounts of data. */
export interface Floods {
  /** Output of the page in MB; more than the allowed growth. */
  floodMb: number;
  /** The service's own responses of a hundred bytes each, in MB. */
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

  describe('a client that stops reading blocks no other, and the service buffers little for it:', () => {
    it('of CDP, flooded with events', { timeout: 300_000 }, async () => {
      const { session, reader, page } = await service.begin();
      const stuck = await service.connect(session.cdp_ws_url);
      await stuck.attach(page);
      stuck.socket.pause();
      expectSmallGrowth(await service.growth(() => flood(reader, floodMb)));
      expect(reader.bytes()).toBeGreaterThan(floodMb * MB);
    });

    it('of CDP, with commands that the service itself handles', { timeout: 300_000 }, async () => {
      const { session, reader } = await service.begin();
      const stuck = await upgrade(session.cdp_ws_url, service);
      stuck.pause();
      // Invalid commands of one byte, each answered with a hundred.
      const frames = Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78])));
      for (let count = 0; count < answersMb / 10; count += 1) stuck.write(frames);
      expectSmallGrowth(await service.growth(() => flood(reader, 10)), MAX_GROWTH_IN_PIECES_MB);
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
      const grown = await service.growth(() => flood(reader, floodMb, LOG_TEN_MB_IN_PIECES));
      expectSmallGrowth(grown);
      response.destroy();
    });
  });
}

function expectSmallGrowth({ held, resident }: Growth, max = MAX_GROWTH_MB): void {
  expect(held).toBeLessThan(max);
  expect(resident).toBeLessThan(MAX_RESIDENT_GROWTH_MB);
}

/** The raw socket of a WebSocket, without framing. */
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

async function flood(client: Client, megabytes: number, logTen = LOG_TEN_MB): Promise<void> {
  for (let logged = 0; logged <= megabytes; logged += 10) await client.evaluate(logTen);
}
