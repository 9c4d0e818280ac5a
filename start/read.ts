import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Browser, type ElementHandle, type Frame, type Page } from 'playwright-core';
import { readWithReasons } from '../activities/login/reading/read-page.ts';
import { forceOpenShadowRoots } from '../activities/login/reading/shadow-roots.ts';
import type { PageReading } from '../contract/reading.ts';
import type { Reason } from '../reader/analyze-page.ts';
import { findChromium } from './setup/chromium.ts';
import { SetupError } from './setup/setup-error.ts';

/**
 * `npm run --silent read -- URL…`: opens each page (or each line of standard input) in a real browser and prints one line of
 * JSON about what it asks for. It types nothing. A page that cannot be opened results in kind `unavailable`. `--explain` adds
 * the reasons; `--picture out.png` draws them onto a screenshot (of the last page).
 */
const OPEN_TIMEOUT_MS = 30_000;

const options = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { explain: { type: 'boolean', default: false }, picture: { type: 'string' } },
});

async function* inputUrls(): AsyncGenerator<string> {
  if (options.positionals.length > 0) {
    yield* options.positionals;
    return;
  }
  for await (const line of createInterface({ input: process.stdin })) if (line.trim()) yield line.trim();
}

/** Turns an argument into a URL; file paths and bare host names are accepted too. */
function toUrl(input: string): string {
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(input)) return input;
  const path = resolve(process.env['INIT_CWD'] ?? '.', input);
  if (existsSync(path)) return pathToFileURL(path).href;
  return /^(localhost|127\.|\[::1\])/.test(input) ? `http://${input}` : `https://${input}`;
}

async function read(browser: Browser, url: string): Promise<{ reading: PageReading; reasons: readonly Reason[] }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  try {
    await forceOpenShadowRoots(context);
    const page = await context.newPage();
    // Awaits only the response, so that a page that never stops loading is read as well.
    await page.goto(url, { timeout: OPEN_TIMEOUT_MS, waitUntil: 'commit' }).catch((error: unknown) => {
      // The browser then shows an error page about it, which is read instead.
      if (!String(error).includes('ERR_INVALID_AUTH_CREDENTIALS')) throw error;
    });
    const { reading, reasons } = await readWithReasons(page);
    const { picture } = options.values;
    if (picture !== undefined) {
      await drawPicture(page, reasons, resolve(process.env['INIT_CWD'] ?? '.', picture));
    }
    return { reading, reasons };
  } finally {
    await context.close();
  }
}

/** Draws every decision onto the page and takes a screenshot. The page is not usable afterwards. */
async function drawPicture(page: Page, reasons: readonly Reason[], path: string): Promise<void> {
  for (const reason of reasons) {
    const { box } = reason;
    const frame = await frameAt(page, reason.frame);
    if (box === undefined || frame === null) continue;
    await frame.evaluate(drawBox, { box, text: `${reason.what}: ${reason.why}`, taken: reason.taken });
  }
  await page.screenshot({ path, fullPage: true });
}

async function frameAt(page: Page, path: readonly string[]): Promise<Frame | null> {
  let frame: Frame | null = page.mainFrame();
  for (const selector of path) {
    const element: ElementHandle | null = await frame.$(selector);
    frame = (await element?.contentFrame()) ?? null;
    if (frame === null) return null;
  }
  return frame;
}

/** Runs inside the page. */
function drawBox(what: { box: NonNullable<Reason['box']>; text: string; taken: boolean }): void {
  const { x, y, width, height } = what.box;
  const color = what.taken ? '#0a7d2c' : '#b3261e';
  const frame = document.createElement('div');
  frame.style.cssText = `position:absolute;left:${x - 3}px;top:${y - 3}px;width:${width + 6}px;height:${height + 6}px;border:2px ${what.taken ? 'solid' : 'dashed'} ${color};z-index:2147483647;pointer-events:none;box-sizing:border-box`;
  const note = document.createElement('div');
  note.textContent = what.text;
  note.style.cssText = `position:absolute;right:0;bottom:0;max-width:100%;overflow:hidden;white-space:nowrap;background:${color};color:#fff;font:10px/13px sans-serif;padding:0 3px`;
  frame.append(note);
  document.documentElement.append(frame);
}

function unavailable(url: string): PageReading {
  return {
    url,
    kind: 'unavailable',
    title: '',
    fields: [],
    submit: null,
    choices: [],
    website_error: null,
    external_action_message: null,
    sign_in_link: null,
  };
}

function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function main(): Promise<void> {
  const executablePath = await findChromium();
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  try {
    for await (const input of inputUrls()) {
      try {
        const { reading, reasons } = await read(browser, toUrl(input));
        const explanation = options.values.explain ? { reasons } : {};
        process.stdout.write(`${JSON.stringify({ ...reading, url: input, final_url: reading.url, ...explanation })}\n`);
      } catch (error) {
        printError(`${input}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'cannot be opened'}`);
        process.stdout.write(`${JSON.stringify({ ...unavailable(input), final_url: input })}\n`);
      }
    }
  } finally {
    await browser.close();
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  printError(error.message);
  process.exitCode = 1;
}
