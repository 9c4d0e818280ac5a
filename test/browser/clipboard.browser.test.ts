import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

const TEXT = 'Grüße\n\t“日本語” 👋\r\n\\ `$' + '{x}';
/** A page over plain http that notes all it could see of somebody at its clipboard or focus. */
const PAGE = `<textarea id=a style="position:absolute;left:20px;top:20px;width:300px;height:80px"></textarea>
<script>
  window.seen = [];
  for (const type of ['copy', 'paste', 'beforecopy', 'beforepaste', 'blur', 'focus', 'keydown', 'visibilitychange'])
    window.addEventListener(type, (event) => seen.push(event.type), true);
</script>`;

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': PAGE });
});
afterAll(() => {
  site.close();
});

async function open(headless: boolean, address = `http://127.0.0.1:${String(site.port)}/`) {
  const session = await service.kernel.browsers.create({ headless, timeout_seconds: 300 });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
  const context = browser.contexts()[0];
  const page = context?.pages()[0];
  if (context === undefined || page === undefined) throw new Error('the session has no page');
  await page.goto(address);
  return { id: session.session_id, browser, context, page };
}

describe.each([true, false])('the clipboard of a session (headless %s)', (headless) => {
  it('is shared with pages without their notice, and isolated from other sessions', async () => {
    const { computer } = service.kernel.browsers;
    const [one, other] = [await open(headless), await open(headless, 'about:blank')];
    expect((await computer.readClipboard(one.id)).text).toBe('');
    await computer.clickMouse(one.id, { x: 60, y: 60 });
    await one.page.evaluate('seen.length = 0');

    await computer.writeClipboard(one.id, { text: TEXT });
    await computer.writeClipboard(other.id, { text: 'of the other' });
    expect((await computer.readClipboard(one.id)).text).toBe(TEXT);
    expect(await one.page.evaluate('[seen, document.hasFocus(), document.activeElement.id]')).toEqual([[], true, 'a']);
    expect([one.context.pages().length, other.context.pages().length]).toEqual([1, 1]);

    await computer.pressKey(one.id, { keys: ['Ctrl+v'] });
    await expect.poll(() => one.page.inputValue('#a')).toBe(TEXT.replace('\r\n', '\n'));
    await one.page.fill('#a', 'from the page');
    await computer.pressKey(one.id, { keys: ['Ctrl+a'] });
    await computer.pressKey(one.id, { keys: ['Ctrl+c'] });
    expect((await computer.readClipboard(one.id)).text).toBe('from the page');
    expect((await computer.readClipboard(other.id)).text).toBe('of the other');
    await computer.writeClipboard(one.id, { text: '' });
    expect((await computer.readClipboard(one.id)).text).toBe('');
    await Promise.all([one.browser.close(), other.browser.close()]);
    for (const { id } of [one, other]) await service.kernel.browsers.deleteByID(id);
  });
});

describe('clipboard calls', () => {
  it('run one at a time, and reject invalid or too long text', async () => {
    const { computer } = service.kernel.browsers;
    const { session_id: id } = await service.kernel.browsers.create({});
    const texts = ['a', 'b', 'c'];
    await Promise.all(texts.map((text) => computer.writeClipboard(id, { text })));
    expect(texts).toContain((await computer.readClipboard(id)).text);
    const long = 'x'.repeat(1_000_000);
    await computer.writeClipboard(id, { text: long });
    expect((await computer.readClipboard(id)).text).toBe(long);
    await expect(computer.writeClipboard(id, { text: `${long}x` })).rejects.toMatchObject({ status: 400 });
    const url = `${service.handle.url}/browsers/${id}/computer/clipboard/write`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: '{"text":5}',
    });
    expect(answer.status).toBe(400);
    expect((await computer.readClipboard(id)).text).toBe(long);
    expect(service.logs.join('\n')).not.toContain('xxxx');
  });
});
