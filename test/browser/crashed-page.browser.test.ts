import { afterAll, describe, expect } from 'vitest';
import { connectRaw } from './raw-client.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/still': '<body>still' });
});
afterAll(() => {
  site.close();
});

describe('a page whose renderer has crashed', () => {
  it('reports the crash until it is navigated', async () => {
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
