import Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import { median, type Figure } from './figure.ts';

/** Measured turns, after one warm-up turn; each runs every kind of session. */
const TURNS = 5;
/** Repetitions of the script in a session, enough to make start-up negligible. */
const ROUNDS = 10;
const on = { enabled: true };

/** What sessions capture; the first is the baseline. */
const KINDS: [name: string, telemetry: NonNullable<Kernel.BrowserCreateParams['telemetry']>][] = [
  ['nothing', { enabled: false }],
  ['the default set', { enabled: true }],
  ['all but pictures', { browser: { console: on, network: on, page: on, interaction: on } }],
  ['everything', { browser: { console: on, network: on, page: on, interaction: on, screenshot: on } }],
];

/** How much longer a Playwright script takes in a captured session than in one without capture. */
export async function measureTelemetry(tree: ProcessTree): Promise<Figure[]> {
  const kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl });
  const times = new Map<string, number[]>(KINDS.map(([name]) => [name, []]));
  for (let turn = 0; turn <= TURNS; turn += 1) {
    // Alternating order, so that none always follows the same other.
    for (const [name, telemetry] of turn % 2 === 0 ? KINDS : KINDS.toReversed()) {
      const took = await timeScript(kernel, `${tree.sandboxUrl}/login`, telemetry);
      if (turn > 0) times.get(name)?.push(took);
    }
  }
  const base = times.get('nothing') ?? [];
  return KINDS.slice(1).map(([name]) => {
    const ratios = (times.get(name) ?? []).map((took, turn) => took / (base[turn] ?? Number.NaN));
    const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, n=${ratios.length}`;
    const without = `${Math.round(median(base))} ms without`;
    return {
      name: `A Playwright script while ${name} is captured, in times of one without capture`,
      value: `${median(ratios).toFixed(2)} (${range}; ${without})`,
    };
  });
}

/** Milliseconds that the script takes in a new session, without creating and deleting the session. */
async function timeScript(
  kernel: Kernel,
  url: string,
  telemetry: NonNullable<Kernel.BrowserCreateParams['telemetry']>,
): Promise<number> {
  const session = await kernel.browsers.create({ telemetry });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  try {
    const page = browser.contexts()[0]?.pages()[0];
    if (page === undefined) throw new Error('the session has no page');
    await page.goto(url);
    const began = performance.now();
    for (let round = 0; round < ROUNDS; round += 1) await script(page, url);
    return performance.now() - began;
  } finally {
    await browser.close();
    await kernel.browsers.deleteByID(session.session_id);
  }
}

/** Typical work of an agent: load, click, type, scroll, read. */
async function script(page: Page, url: string): Promise<void> {
  await page.goto(url);
  const field = page.locator('input').first();
  await field.click();
  await field.pressSequentially('somebody@example.com');
  await page.mouse.wheel(0, 200);
  await page.locator('body').innerText();
}
