import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRaw } from './raw-client.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startService, startSite } from './service-under-test.ts';

let service: ServiceUnderTest;
let site: Site;

beforeAll(async () => {
  service = await startService();
  site = await startSite({
    '/still': '<body>still',
    // From one site to another and back, each in a process of its own.
    '/moving': (request, response) => {
      const port = String(site.port);
      const next = request.headers.host?.startsWith('localhost') === true ? '127.0.0.1' : 'localhost';
      const address = `http://${next}:${port}/moving`;
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' });
      response.end(
        `<body>moving<script>setTimeout(() => { location.href = '${address}'; }, Math.random() * 60)</script>`,
      );
    },
  });
});
afterAll(async () => {
  await service.stop();
  site.close();
});

describe('a page that does not stay', () => {
  it('is shown all the same while it goes from site to site', { timeout: 60_000 }, async () => {
    const { computer } = service.kernel.browsers;
    const session = await service.kernel.browsers.create({ start_url: `${site.origin}/moving` });
    const id = session.session_id;
    await eventually(() => {
      expect(site.requests.length).toBeGreaterThan(3);
    });
    for (let count = 0; count < 30; count += 1) {
      const picture = await computer.captureScreenshot(id);
      expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
    await service.kernel.browsers.deleteByID(id);
  });

  it('says that it has crashed, until it is navigated', async () => {
    const { computer } = service.kernel.browsers;
    const session = await service.kernel.browsers.create();
    const id = session.session_id;
    const client = await connectRaw(session.cdp_ws_url);
    const targets = (await client.call('Target.getTargets')).result?.['targetInfos'];
    const { targetId } = (targets as { targetId: string; type: string }[]).find(({ type }) => type === 'page') ?? {};
    const attached = await client.call('Target.attachToTarget', { targetId, flatten: true });
    const sessionId = String(attached.result?.['sessionId']);
    await client.call('Page.navigate', { url: `${site.origin}/still` }, sessionId);
    client.send({ id: 1_000, method: 'Page.crash', sessionId });
    await eventually(() => expect(computer.typeText(id, { text: 'a' })).rejects.toThrow('has crashed'));
    const region = { x: 0, y: 0, width: 10, height: 10 };
    await expect(computer.captureScreenshot(id, { region })).rejects.toMatchObject({ status: 422 });
    await client.call('Page.navigate', { url: `${site.origin}/still` }, sessionId);
    await eventually(() => computer.typeText(id, { text: 'a' }));
    await computer.captureScreenshot(id, { region });
    await client.close();
    await service.kernel.browsers.deleteByID(id);
  });
});
