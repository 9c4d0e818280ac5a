import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import { median } from './figure.ts';
import type { Figure } from './figure.ts';
import { answer, clientOf, connect, isAsking, isDone, untilState } from './logins.ts';

const RUNS = 7;
const MARK = 'bench-first-key';
/** Runs in the page, so it is text: the loader of this file would put names of its own into a function. */
const TELL_FIRST_KEY = `for (const type of ['keydown', 'beforeinput']) {
  addEventListener(type, () => console.debug('${MARK} ' + Date.now()), { capture: true, once: true });
}`;

/** From the answer to an accepted `submit` to the first key that the page sees. Page and benchmark share one clock. */
export async function measureFirstKey(tree: ProcessTree): Promise<Figure[]> {
  const kernel = clientOf(tree);
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const connection = await connect(kernel, tree, `bench-key-${run}`);
    await kernel.auth.connections.login(connection.id);
    const asking = await untilState(kernel, connection.id, isAsking);
    const session = await kernel.browsers.retrieve(asking.browser_session_id ?? '');
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    try {
      const page = browser.contexts().flatMap((context) => context.pages())[0];
      if (!page) throw new Error('the session has no page');
      const firstKey = watchFirstKey(page);
      await page.evaluate(TELL_FIRST_KEY);
      await answer(kernel, asking);
      const accepted = Date.now();
      times.push((await firstKey) - accepted);
    } finally {
      await browser.close();
    }
    await untilState(kernel, connection.id, isDone);
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
