import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Client, Flooded, MeasuredChild } from './measured-child.ts';
import { MB, startMeasured } from './measured-child.ts';

/** Allowed memory growth, for the viewer and everything else. */
const MAX_GROWTH_MB = 10;
/** How much happens while a viewer does not read. */
export interface Changes {
  /** Number of navigations to a URL of a megabyte; the most expensive of these for a browser. */
  addresses: number;
  /** Number of dialogs: each sends the viewer two megabytes, of which the system buffers some. */
  dialogs: number;
  /** Number of page switches, each with a frame of a megabyte. */
  switches: number;
}

/** Tests of viewers that have stopped reading. */
export function testSlowViewers({ addresses, dialogs, switches }: Changes): void {
  let service: MeasuredChild;

  beforeAll(async () => {
    service = await startMeasured(inject('chromiumPath'));
  });
  afterAll(async () => {
    await service.stop();
  });

  describe('a viewer that has stopped reading delays nobody and occupies little memory', () => {
    if (addresses > 0) {
      it('of a page that keeps navigating', { timeout: 600_000 }, async () => {
        const { session, reader } = await service.begin();
        const stuck = await watch(service, session);
        const looking = await watch(service, session);
        stuck.socket.pause();
        const grown = await service.growth(async () => {
          for (let count = 1; count <= addresses; count += 1) {
            await reader.evaluate(`location.replace('#${String(count)}-' + 'x'.repeat(${String(MB)})); 0`);
            await looking.seesAddress(count);
          }
        });
        expect(grown.held).toBeLessThan(MAX_GROWTH_MB);
        stuck.socket.resume();
        await stuck.seesAddress(addresses);
        expect(stuck.messageCount()).toBeLessThan(addresses / 2);
      });
    }

    it('of a page that keeps opening dialogs', { timeout: 600_000 }, async () => {
      const { session, reader } = await service.begin();
      const stuck = await watch(service, session);
      const looking = await watch(service, session);
      await reader.call('Page.enable');
      // Sent with each dialog, which is far cheaper for the browser than navigating to such a URL each time.
      await reader.evaluate(`location.replace('#' + 'x'.repeat(${String(MB)})); 0`);
      stuck.socket.pause();
      const grown = await service.growth(async () => {
        await reader.evaluate(`setTimeout(() => { for (let n = 1; n <= ${String(dialogs)}; n += 1) alert(n); }); 0`);
        for (let count = 1; count < dialogs; count += 1) {
          await looking.seesDialog(count);
          await reader.call('Page.handleJavaScriptDialog', { accept: true });
        }
        await looking.seesDialog(dialogs);
      });
      expect(grown.held).toBeLessThan(MAX_GROWTH_MB);
      // A reader that resumes receives the latest state, and little of what came before.
      stuck.socket.resume();
      await stuck.seesDialog(dialogs);
      expect(stuck.messageCount()).toBeLessThan(dialogs);
    });

    it('of pages that are brought to front in turn', { timeout: 600_000 }, async () => {
      const { session, reader, page } = await service.begin();
      const noise = `document.body.innerHTML = '<canvas width=1900 height=950>'; {
      const canvas = document.querySelector('canvas'), picture = new ImageData(1900, 950);
      for (let at = 0; at < picture.data.length; at += 1) picture.data[at] = at % 4 === 3 ? 255 : Math.random() * 256;
      canvas.getContext('2d').putImageData(picture, 0, 0); } 0`;
      await reader.evaluate(noise);
      const other = await service.connect(session.cdp_ws_url);
      const { targetId } = (await other.call('Target.createTarget', { url: 'about:blank' })) as { targetId: string };
      await other.attach(targetId);
      await other.evaluate(noise);
      const stuck = await watch(service, session);
      const looking = await watch(service, session);
      stuck.socket.pause();
      const grown = await service.growth(async () => {
        for (let count = 0; count < switches; count += 1) {
          const pictures = looking.pictures();
          const [shown, client] = count % 2 === 0 ? [page, reader] : [targetId, other];
          await client.call('Target.activateTarget', { targetId: shown });
          await looking.seesMoreThan(pictures);
        }
      });
      expect(looking.bytes()).toBeGreaterThan(switches * MB);
      expect(grown.held).toBeLessThan(MAX_GROWTH_MB);
    });
  });
}

/** A live view client without a page. */
async function watch(service: MeasuredChild, session: Flooded['session']) {
  const client: Client = await service.connect((session.browser_live_view_url ?? '').replace(/^http/, 'ws'));
  const end = /"dialog":(?:null|\{"kind":"alert","message":"(\d+)".*)\}$/;
  const address = /"url":"[^"#]*#(\d+)-/;
  let at = 0;
  /** The dialog's number; 0 without a dialog. */
  let shown = 0;
  let messageCount = 0;
  let pictures = 0;
  client.socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) {
      pictures += 1;
      return;
    }
    messageCount += 1;
    at = Number(address.exec(data.toString('latin1', 0, 16 * 1024))?.[1] ?? at);
    shown = Number(end.exec(data.toString('latin1', Math.max(0, data.length - 200)))?.[1] ?? 0);
  });
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await once(client.socket, 'message');
  };
  return {
    ...client,
    messageCount: () => messageCount,
    pictures: () => pictures,
    seesAddress: (count: number) => until(() => at === count),
    seesDialog: (count: number) => until(() => shown === count),
    seesMoreThan: (count: number) => until(() => pictures > count),
  };
}
