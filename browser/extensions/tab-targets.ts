import { setTimeout as wait } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import { z } from 'zod';
import type { Chromium } from '../chromium/launch.ts';

/** Time between two looks whether a worker is ready, in milliseconds. */
const LOOK_EVERY_MS = 25;
/** What a worker calls to ask, and what it is answered by. */
const ASK = 'holdfastAskTargets';
const ANSWER = 'holdfastAnswerTargets';
/** What a worker asks: about its tabs, as `chrome.tabs` tells of them. Whoever drives the session can call it. */
const Question = z.object({
  call: z.number(),
  tabs: z.array(z.object({ id: z.number(), windowId: z.number() })).max(1000),
});
type Tab = z.infer<typeof Question>['tabs'][number];

/** A page as `chrome.debugger.getTargets` tells of it. */
interface TabTarget {
  id: string;
  tabId: number;
  type: 'page';
  url: string;
  title: string;
  attached: boolean;
}

/**
 * Gives the workers of an extension, from now on, the one part of `chrome.debugger` that leads nowhere: `getTargets`, which tells
 * the targets of its tabs, as the session's CDP connection does. Its other methods say why they are refused. The permission
 * itself is not given: it would lead past the checks of that connection. Resolves when the browser is being watched for workers.
 */
export async function provideTabTargets(chromium: Chromium, extensionId: string): Promise<void> {
  const { cdp } = chromium;
  const workers = new Set<string>();
  const give = async (targetId: string): Promise<void> => {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    workers.add(sessionId);
    await cdp.send('Runtime.addBinding', { name: ASK }, sessionId);
    // One that has just been made has no interface of extensions yet; when it goes, the command fails.
    const isGiven = async (): Promise<boolean> =>
      (await cdp.send('Runtime.evaluate', { expression: SHIM }, sessionId)).result.value === true;
    while (!(await isGiven())) await wait(LOOK_EVERY_MS);
  };
  cdp.on('Target.targetCreated', ({ targetInfo: { targetId, type, url } }) => {
    if (type !== 'service_worker' || !url.startsWith(`chrome-extension://${extensionId}/`)) return;
    // One that has gone again needs nothing.
    give(targetId).catch(() => undefined);
  });
  cdp.on('Target.detachedFromTarget', ({ sessionId }) => void workers.delete(sessionId));
  cdp.on('Runtime.bindingCalled', ({ name, payload }, sessionId) => {
    if (name !== ASK || sessionId === undefined || !workers.has(sessionId)) return;
    answer(chromium, payload, sessionId).catch(() => undefined);
  });
  // The tracker of pages goes on as it is: it takes no notice of other kinds.
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
 * The targets of tabs; null while a tab opens or closes. The protocol does not know the numbers of tabs, but those of their
 * windows, and both sides count tabs in the order in which they were made.
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

/** Runs in a worker; false when it is too early. A tab that opens or closes is waited for. */
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
  const refuse = (method) => async () => {
    throw new Error('chrome.debugger.' + method + ' is not given to extensions of a session; use its cdp_ws_url');
  };
  const event = { addListener: () => {}, removeListener: () => {}, hasListener: () => false };
  chrome.debugger = {
    getTargets: async () => {
      for (let looks = 0; looks < 400; looks += 1) {
        const targets = await ask();
        if (targets !== null) return targets;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error('The tabs of the session do not come to rest');
    },
    attach: refuse('attach'),
    detach: refuse('detach'),
    sendCommand: refuse('sendCommand'),
    onEvent: event,
    onDetach: event,
  };
  return true;
})()`;
