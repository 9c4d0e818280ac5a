import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import { median, type Figure } from './figure.ts';
import { answer, clientOf, connect, isAwaitingInput, isDone, waitForState } from './logins.ts';

const RUNS = 7;
const MARK = 'bench-first-key';
/** Runs in the page. A string, because this file's loader adds its own helpers to functions. */
const REPORT_FIRST_KEY = `for (const type of ['keydown', 'beforeinput']) {
  addEventListener(type, () => console.debug('${MARK} ' + Date.now()), { capture: true, once: true });
}`;

/** Time from an accepted `submit` to the first key event in the page. Page and benchmark share one clock. */
export async function measureFirstKey(tree: ProcessTree): Promise<Figure[]> {
  const kernel = clientOf(tree);
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const connection = await connect(kernel, tree, `bench-key-${run}`);
    await kernel.auth.connections.login(connection.id);
    const pending = await waitForState(kernel, connection.id, isAwaitingInput);
    const session = await kernel.browsers.retrieve(pending.browser_session_id ?? '');
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    try {
      const page = browser.contexts().flatMap((context) => context.pages())[0];
      if (!page) throw new Error('the session has no page');
      const firstKey = watchFirstKey(page);
      await page.evaluate(REPORT_FIRST_KEY);
      await answer(kernel, pending);
      const accepted = Date.now();
      times.push((await firstKey) - accepted);
    } finally {
      await browser.close();
    }
    await waitForState(kernel, connection.id, isDone);
  }
  const text = times.map((ms) => `${ms}`).join(', ');
  return [{ name: 'Accepted `submit` to the first key in the page', value: `${median(times)} ms (${text})` }];
}

function watchFirstKey(page: Page): Promise<number> {
  return new Promise((resolve) => {
    page.on('console', (message) => {
      if (message.text().startsWith(MARK)) resolve(Number(message.text().split(' ')[1]));
    });
  });
}
