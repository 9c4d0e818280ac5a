import { createParser } from 'eventsource-parser';
import { chromium } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { MANAGED_AUTH_HEADER } from '../../contract/browsers.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import { batch, focusedControl, openScreencast, pickInFocusedControl } from '../../browser-client/computer.ts';
import { ScreencastFrame, type FocusedControl } from '../../contract/screencast.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

const FORM = `<title>Form</title><style>body { margin: 0; } select, input { display: block; height: 40px; width: 300px; margin: 0; box-sizing: border-box; }</style>
  <select id=list aria-label="A list"><optgroup label=Stones disabled><option>Marble</option></optgroup><option>One</option><option>Two</option></select>
  <input id=day type=date><input id=colour type=color><input id=code type=password placeholder="A code"><input id=count inputmode=numeric>
  <input id=box type=checkbox>
  <script>told = []; for (const type of ['input', 'change', 'keydown'])
    addEventListener(type, ({ target, key }) => told.push([type, target.id, key ?? target.value]));</script>`;
/** Centers of the form's rows. */
const ROW = (number: number) => ({ x: 150, y: 40 * number + 20 });

let service: ServiceUnderTest;
let site: Site;
let frames: Site;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  frames = await startSite({ '/': FORM });
  site = await startSite({
    '/': FORM,
    // Another site, so it runs in its own process.
    '/framed': `<body style="margin:0"><iframe style="border:0;width:400px;height:400px" src="${frames.origin.replace('localhost', '127.0.0.1')}/"></iframe>`,
  });
});
afterAll(() => {
  site.close();
  frames.close();
});

async function open(path: string) {
  const session = await service.kernel.browsers.create(
    { headless: true, viewport: { width: 800, height: 600 } },
    { headers: { [MANAGED_AUTH_HEADER]: 'true' } },
  );
  const client = createBrowserService({ baseUrl: service.handle.url, apiKey: API_KEY });
  const target = { projectId: 'prj_default', sessionId: session.session_id };
  const connected = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
  const page = connected.contexts()[0]?.pages()[0];
  if (page === undefined) throw new Error('no page');
  await page.goto(`${site.origin}${path}`);
  const form = page.frames().at(-1);
  if (form === undefined) throw new Error('no frame');
  // A cross-site frame takes clicks only once the browser knows its position.
  await eventually(async () => {
    await batch(client, target, { actions: [{ type: 'click_mouse', click_mouse: { x: 350, y: 350 } }] });
    expect(await form.evaluate('document.hasFocus()')).toBe(true);
  });
  const click = async (row: number): Promise<FocusedControl> => {
    await batch(client, target, { actions: [{ type: 'click_mouse', click_mouse: ROW(row) }] });
    return await focusedControl(client, target);
  };
  const close = async (): Promise<void> => {
    await connected.close();
    await service.kernel.browsers.deleteByID(session.session_id);
    await client.close();
  };
  return { client, target, page, form, click, close };
}

it.each(['/', '/framed'])('reports the focused control, and selects in it, at %s', async (path) => {
  const { client, target, form, click, close } = await open(path);
  expect(await click(0)).toEqual({
    kind: 'list',
    label: 'A list',
    options: [
      { label: 'Marble', disabled: true },
      { label: 'One', disabled: false },
      { label: 'Two', disabled: false },
    ],
    chosen: 1,
  });
  await pickInFocusedControl(client, target, { value: '2' });
  for (const value of ['0', '3', '-1', 'Two', ''])
    await expect(pickInFocusedControl(client, target, { value })).rejects.toMatchObject({ code: 'browser_error' });
  expect(await click(1)).toMatchObject({ kind: 'picker', input: 'date', value: '' });
  await pickInFocusedControl(client, target, { value: '2026-12-24' });
  await expect(pickInFocusedControl(client, target, { value: 'tomorrow' })).rejects.toMatchObject({
    code: 'browser_error',
  });
  expect(await click(2)).toMatchObject({ kind: 'picker', input: 'color', value: '#000000' });
  await pickInFocusedControl(client, target, { value: '#ff0000' });
  expect(await click(3)).toEqual({ kind: 'text', label: 'A code', secret: true, keyboard: 'text' });
  await expect(pickInFocusedControl(client, target, { value: 'x' })).rejects.toMatchObject({ code: 'browser_error' });
  // The popups of the list and of the date take no more keys.
  await batch(client, target, { actions: [{ type: 'press_key', press_key: { keys: ['a'] } }] });
  expect(await click(4)).toMatchObject({ kind: 'text', secret: false, keyboard: 'numeric' });
  expect(await click(5)).toEqual({ kind: 'none' });
  expect(await form.evaluate('[list.value, day.value, colour.value, code.value]')).toEqual([
    'Two',
    '2026-12-24',
    '#ff0000',
    'a',
  ]);
  expect((await form.evaluate<string[][]>('told')).filter(([type]) => type !== 'keydown')).toEqual([
    ['input', 'list', 'Two'],
    ['change', 'list', 'Two'],
    ['input', 'day', '2026-12-24'],
    ['change', 'day', '2026-12-24'],
    ['input', 'colour', '#ff0000'],
    ['change', 'colour', '#ff0000'],
    ['input', 'code', 'a'],
    ['change', 'code', 'a'],
    ['input', 'box', 'on'],
    ['change', 'box', 'on'],
  ]);
  await close();
});

/** The frames of a screencast, as they arrive. */
async function* framesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ScreencastFrame, undefined> {
  const come: ScreencastFrame[] = [];
  const parser = createParser({ onEvent: ({ data }) => void come.push(ScreencastFrame.parse(JSON.parse(data))) });
  const decoder = new TextDecoder();
  for await (const part of stream) {
    parser.feed(decoder.decode(part, { stream: true }));
    for (const frame of come.splice(0)) yield frame;
  }
}

it('streams frames when the page changes, to a limited number of viewers, until the session ends', async () => {
  const { client, target, page, close } = await open('/');
  // A login's page has a virtual authenticator, which must survive a viewer's disconnect.
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true } as const;
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  const gone = Array.from({ length: 4 }, () => new AbortController());
  const streams = await Promise.all(gone.map(({ signal }) => openScreencast(client, target, signal)));
  for (const stream of streams) stream.on('error', () => undefined);
  await expect(openScreencast(client, target, new AbortController().signal)).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  const [shown] = streams;
  if (shown === undefined) throw new Error('no stream');
  const frames = framesOf(shown);
  const { value: first } = await frames.next();
  expect(first).toMatchObject({ width: 800, height: 600 });
  const jpeg = (frame: ScreencastFrame | undefined): Buffer => Buffer.from(frame?.jpeg ?? '', 'base64');
  expect(jpeg(first).subarray(0, 3).toString('hex')).toBe('ffd8ff');
  await page.evaluate(`document.body.style.background = 'red'; 0`);
  for await (const frame of frames) if (!jpeg(frame).equals(jpeg(first))) break;
  for (const one of gone) one.abort();
  // Without viewers, resizing is allowed again.
  const viewport = { width: 640, height: 480 };
  await eventually(async () => {
    await service.kernel.browsers.update(target.sessionId, { viewport });
  });
  expect(await cdp.send('WebAuthn.getCredentials', { authenticatorId })).toEqual({ credentials: [] });
  const last = framesOf(await openScreencast(client, target, new AbortController().signal));
  expect((await last.next()).value).toMatchObject(viewport);
  await close();
  for await (const _frame of last) continue;
});
