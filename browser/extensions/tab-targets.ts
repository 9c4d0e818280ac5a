import { setTimeout as wait } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import { z } from 'zod';
import type { Chromium } from '../chromium/launch.ts';

/** How often to check whether a worker is ready, in milliseconds. */
const POLL_MS = 25;
/** The binding that a worker calls, and the function that receives the result. */
const ASK = 'holdfastAskTargets';
const ANSWER = 'holdfastAnswerTargets';
/** A worker's question about its tabs, as in `chrome.tabs`. Any client of the session can send it. */
const Question = z.object({
  call: z.number(),
  tabs: z.array(z.object({ id: z.number(), windowId: z.number() })).max(1000),
});
type Tab = z.infer<typeof Question>['tabs'][number];

/** A page, as in `chrome.debugger.getTargets`. */
interface TabTarget {
  id: string;
  tabId: number;
  type: 'page';
  url: string;
  title: string;
  attached: boolean;
}

/**
 * Provides an extension's workers with `chrome.debugger.getTargets`, the one harmless method of that API, which lists the targets of
 * its tabs. Its other methods throw with an explanation. The permission itself is not granted, because it would bypass the guard of
 * the session's CDP connection.
 */
export async function provideTabTargets(chromium: Chromium, extensionId: string): Promise<void> {
  const { cdp } = chromium;
  const workers = new Set<string>();
  const provide = async (targetId: string): Promise<void> => {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    workers.add(sessionId);
    await cdp.send('Runtime.addBinding', { name: ASK }, sessionId);
    // A new worker has no extension API yet. The command fails if the worker stops.
    const isInstalled = async (): Promise<boolean> =>
      (await cdp.send('Runtime.evaluate', { expression: SHIM }, sessionId)).result.value === true;
    while (!(await isInstalled())) await wait(POLL_MS);
  };
  cdp.on('Target.targetCreated', ({ targetInfo: { targetId, type, url } }) => {
    if (type !== 'service_worker' || !url.startsWith(`chrome-extension://${extensionId}/`)) return;
    provide(targetId).catch(() => undefined);
  });
  cdp.on('Target.detachedFromTarget', ({ sessionId }) => void workers.delete(sessionId));
  cdp.on('Runtime.bindingCalled', ({ name, payload }, sessionId) => {
    if (name !== ASK || sessionId === undefined || !workers.has(sessionId)) return;
    answer(chromium, payload, sessionId).catch(() => undefined);
  });
  // Does not affect the page tracker, which ignores other types.
  const filter = [{ type: 'page' }, { type: 'service_worker' }];
  await cdp.send('Target.setDiscoverTargets', { discover: true, filter });
}

async function answer(chromium: Chromium, payload: string, sessionId: string): Promise<void> {
  const question = Question.safeParse(JSON.parse(payload));
  if (!question.success) return;
  const { call, tabs } = question.data;
  const targets = await targetsOf(chromium, tabs);
  const expression = `${ANSWER}(${String(call)}, ${JSON.stringify(targets)})`;
  await chromium.cdp.send('Runtime.evaluate', { expression }, sessionId);
}

/**
 * The targets of tabs; null while a tab opens or closes. CDP does not expose tab ids but window ids, and both sides order tabs
 * by creation.
 */
async function targetsOf({ cdp, pages }: Chromium, tabs: readonly Tab[]): Promise<TabTarget[] | null> {
  const windowOf = async (targetId: string): Promise<number | null> =>
    cdp.send('Browser.getWindowForTarget', { targetId }).then(
      ({ windowId }: Protocol.Browser.GetWindowForTargetResponse) => windowId,
      () => null,
    );
  const placed = await Promise.all(
    pages.all().map(async (page) => ({ page, windowId: await windowOf(page.targetId) })),
  );
  const targets: TabTarget[] = [];
  for (const windowId of new Set(tabs.map((tab) => tab.windowId))) {
    const numbers = tabs.filter((tab) => tab.windowId === windowId).map(({ id }) => id);
    const inWindow = placed.filter((each) => each.windowId === windowId);
    if (numbers.length !== inWindow.length) return null;
    numbers.sort((left, right) => left - right);
    for (const [index, tabId] of numbers.entries()) {
      const page = inWindow[index]?.page;
      if (page === undefined) return null;
      targets.push({ id: page.targetId, tabId, type: 'page', url: page.url, title: page.title, attached: true });
    }
  }
  return targets;
}

/** Runs in a worker; false if it is too early. Waits while a tab opens or closes. */
const SHIM = `(() => {
  if (globalThis.chrome?.tabs === undefined) return false;
  const waiting = new Map();
  let last = 0;
  const ask = async () => {
    const tabs = (await chrome.tabs.query({})).map(({ id, windowId }) => ({ id, windowId }));
    const call = ++last;
    return new Promise((resolve) => {
      waiting.set(call, resolve);
      globalThis.${ASK}(JSON.stringify({ call, tabs }));
    });
  };
  globalThis.${ANSWER} = (call, targets) => {
    waiting.get(call)?.(targets);
    waiting.delete(call);
  };
  const unsupported = (method) => async () => {
    throw new Error('chrome.debugger.' + method + ' is not available to extensions of a session; use its cdp_ws_url');
  };
  const event = { addListener: () => {}, removeListener: () => {}, hasListener: () => false };
  chrome.debugger = {
    getTargets: async () => {
      for (let looks = 0; looks < 400; looks += 1) {
        const targets = await ask();
        if (targets !== null) return targets;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error('The tabs of the session keep opening and closing; retry');
    },
    attach: unsupported('attach'),
    detach: unsupported('detach'),
    sendCommand: unsupported('sendCommand'),
    onEvent: event,
    onDetach: event,
  };
  return true;
})()`;
