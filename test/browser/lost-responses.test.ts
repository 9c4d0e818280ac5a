import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createCdpConnection } from '../../browser/cdp/connection.ts';
import { trackPages } from '../../browser/chromium/pages.ts';
import { createCdpDevice } from '../../browser/computer/cdp-device.ts';
import { createInputState } from '../../browser/computer/device.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A browser with one page that responds to everything but input. */
async function pageWithoutAnswers() {
  const input: string[] = [];
  let hear: (message: string) => void = () => undefined;
  const tell = (method: string, params: object, sessionId?: string): void => {
    hear(JSON.stringify({ method, params, sessionId }));
  };
  const targetInfo = { targetId: 't', type: 'page', url: 'http://a.test/', title: '', browserContextId: 'c' };
  const cdp = createCdpConnection({
    send: (text) => {
      const { id, method, params } = JSON.parse(text) as { id: number; method: string; params: { type?: string } };
      if (method.startsWith('Input.')) {
        input.push(params.type ?? method);
        return;
      }
      if (method === 'Target.setAutoAttach' && input.length === 0) {
        tell('Target.attachedToTarget', { sessionId: 's', targetInfo, waitingForDebugger: false });
      }
      hear(JSON.stringify({ id, result: {} }));
    },
    onMessage: (listener) => (hear = listener),
    onClose: () => undefined,
    close: () => undefined,
  });
  const pages = await trackPages(cdp);
  const page = pages.active();
  if (page === undefined) throw new Error('no page');
  const device = createCdpDevice({ input: createInputState(), chromium: { cdp, pages } }, page);
  return { device, input, tell };
}

/** Its outcome; `waits` if it is still pending. */
async function after(ms: number, action: Promise<void>): Promise<string> {
  let state = 'waits';
  action.then(
    () => (state = 'done'),
    (error: unknown) => (state = error instanceof Error ? error.message : 'failed'),
  );
  await vi.advanceTimersByTimeAsync(ms);
  return state;
}

describe('input whose response is lost', () => {
  it('counts as handled when its document was replaced, and is sent once', async () => {
    const { device, input, tell } = await pageWithoutAnswers();
    const pressed = device.press('left', 1, 0);
    expect(await after(5_000, pressed)).toBe('waits');
    tell('Page.frameNavigated', { frame: { id: 't', url: 'http://b.test/' } }, 's');
    expect(await after(500, pressed)).toBe('waits');
    expect(await after(600, pressed)).toBe('done');
    expect(input).toEqual(['mousePressed']);
    // Input to the new document does not count as handled because the old one was replaced.
    expect(await after(5_000, device.release('left', 1, 0))).toBe('waits');
  });

  it('fails immediately when the page crashes, until it has a new document', async () => {
    const { device, tell } = await pageWithoutAnswers();
    const pressed = device.press('left', 1, 0);
    tell('Target.targetCrashed', { targetId: 't', status: 'crashed', errorCode: 11 });
    expect(await after(0, pressed)).toContain('has crashed');
    expect(await after(0, device.insertText('a'))).toContain('has crashed');
    tell('Page.frameNavigated', { frame: { id: 't', url: 'http://a.test/' } }, 's');
    expect(await after(5_000, device.insertText('a'))).toBe('waits');
  });

  it('is awaited once when the page hangs: held buttons are released without waiting', async () => {
    const { device, input } = await pageWithoutAnswers();
    expect(await after(30_000, device.press('left', 1, 0))).toContain('Timed out');
    expect(await after(0, device.release('left', 1, 0))).toBe('done');
    expect(input).toEqual(['mousePressed', 'mouseReleased']);
  });
});
