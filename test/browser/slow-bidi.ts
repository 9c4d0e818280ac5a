import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Client, MeasuredChild } from './measured-child.ts';
import { MB, startMeasured } from './measured-child.ts';

/** Allowed memory growth: threads, data buffered for a client until it is disconnected, other buffers. */
const MAX_GROWTH_MB = 270;
/** Logs ten megabytes from a page. */
const LOG_TEN_MB = `for (let count = 0; count < 100; count += 1) console.log('x'.repeat(${String(MB / 10)}))`;
/** A command that keeps a mapper busy for more than a second. */
const MUCH_TO_DO = { events: Array.from({ length: 900_000 }, () => 'log.entryAdded') };

/** Tests of WebDriver BiDi clients under a flood. `floodMb`: the page's output in MB, which a client receives twice. */
export function testSlowBidi({ floodMb }: { floodMb: number }): void {
  let service: MeasuredChild;

  beforeAll(async () => {
    service = await startMeasured(inject('chromiumPath'));
  });
  afterAll(async () => {
    await service.stop();
  });

  describe('a WebDriver BiDi client that a page floods with events', () => {
    it(
      'is disconnected when it has stopped reading, and other clients of its session receive everything',
      { timeout: 300_000 },
      async () => {
        const { session, reader } = await service.begin();
        const stuck = await listen(service, session.webdriver_ws_url);
        const other = await listen(service, session.webdriver_ws_url);
        stuck.socket.pause();
        const grown = await service.growth(async () => {
          await flood(reader, floodMb);
          while (other.bytes() < 2 * floodMb * MB) await once(other.socket, 'message');
        });
        expect(grown.resident).toBeLessThan(MAX_GROWTH_MB);
        const closed = once(stuck.socket, 'close');
        stuck.socket.resume();
        // Without being disconnected, it would receive everything.
        while (stuck.socket.readyState === WebSocket.OPEN && stuck.bytes() < 2 * floodMb * MB)
          await Promise.race([closed, once(stuck.socket, 'message')]);
        expect(stuck.bytes()).toBeLessThan(2 * floodMb * MB);
        await closed;
      },
    );

    it(
      'receives everything when its mapper is behind, and nothing piles up in front of the mapper',
      { timeout: 300_000 },
      async () => {
        const { session, reader } = await service.begin();
        const client = await listen(service, session.webdriver_ws_url);
        const grown = await service.growth(async () => {
          const done = Array.from({ length: 4 }, () => client.call('session.subscribe', MUCH_TO_DO));
          await Promise.all([flood(reader, floodMb), ...done]);
          while (client.bytes() < 2 * floodMb * MB) await once(client.socket, 'message');
        });
        expect(grown.resident).toBeLessThan(MAX_GROWTH_MB);
      },
    );
  });
}

async function listen(service: MeasuredChild, address: string): Promise<Client> {
  const client = await service.connect(address);
  await client.call('session.new', { capabilities: {} });
  await client.call('session.subscribe', { events: ['log.entryAdded'] });
  return client;
}

async function flood(client: Client, floodMb: number): Promise<void> {
  for (let logged = 0; logged < floodMb; logged += 10) await client.evaluate(LOG_TEN_MB);
}
