import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { readWithReasons } from '../activities/login/reading/read-page.ts';
import { forceOpenShadowRoots } from '../activities/login/reading/shadow-roots.ts';
import type { PageReading } from '../contract/reading.ts';
import type { Reason } from '../reader/understand.ts';
import { takePicture } from './read-picture.ts';
import { findChromium } from './setup/chromium.ts';
import { SetupError } from './setup/setup-error.ts';

/**
 * `npm run --silent read -- URL…`: opens each page (or one a line from standard input) in a real browser and prints one line
 * of JSON about what it asks for. It types nothing. A page that cannot be opened gives a line of kind `unavailable`.
 * `--explain` adds the reasons to it; `--picture out.png` draws them onto a picture of the page (the last one wins).
 */
const OPEN_TIMEOUT_MS = 30_000;

const options = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { explain: { type: 'boolean', default: false }, picture: { type: 'string' } },
});

async function* wanted(): AsyncGenerator<string> {
  if (options.positionals.length > 0) {
    yield* options.positionals;
    return;
  }
  for await (const line of createInterface({ input: process.stdin })) if (line.trim()) yield line.trim();
}

/** What was asked for as an address: a path of a file and a bare host name are taken too. */
function addressOf(asked: string): string {
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(asked)) return asked;
  const path = resolve(process.env['INIT_CWD'] ?? '.', asked);
  if (existsSync(path)) return pathToFileURL(path).href;
  return /^(localhost|127\.|\[::1\])/.test(asked) ? `http://${asked}` : `https://${asked}`;
}

async function read(browser: Browser, url: string): Promise<{ reading: PageReading; reasons: readonly Reason[] }> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  try {
    await forceOpenShadowRoots(context);
    const page = await context.newPage();
    // The response is all that is awaited: a page that never stops loading is read all the same.
    await page.goto(url, { timeout: OPEN_TIMEOUT_MS, waitUntil: 'commit' }).catch((error: unknown) => {
      // The page that the browser shows then tells of it.
      if (!String(error).includes('ERR_INVALID_AUTH_CREDENTIALS')) throw error;
    });
    const { reading, reasons } = await readWithReasons(page);
    const { picture } = options.values;
    if (picture !== undefined) {
      await takePicture(page, reasons, resolve(process.env['INIT_CWD'] ?? '.', picture));
    }
    return { reading, reasons };
  } finally {
    await context.close();
  }
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

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function main(): Promise<void> {
  const executablePath = await findChromium();
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  try {
    for await (const asked of wanted()) {
      try {
        const { reading, reasons } = await read(browser, addressOf(asked));
        const because = options.values.explain ? { reasons } : {};
        process.stdout.write(`${JSON.stringify({ ...reading, url: asked, final_url: reading.url, ...because })}\n`);
      } catch (error) {
        complain(`${asked}: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'cannot be opened'}`);
        process.stdout.write(`${JSON.stringify({ ...unavailable(asked), final_url: asked })}\n`);
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
  complain(error.message);
  process.exitCode = 1;
}
