import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { chromium, type Browser } from 'playwright-core';
import type { PageReading } from '../contract/reading.ts';
import { readWhenSettled } from '../activities/login/read/read-page.ts';

/**
 * `npm run --silent read -- URL…`: opens each page (or one a line from standard input) in a real browser and prints one line
 * of JSON about what it asks for. It types nothing. A page that cannot be opened gives a line of kind `unavailable`.
 */
const OPEN_TIMEOUT_MS = 30_000;
const CANDIDATES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
];

async function* wanted(): AsyncGenerator<string> {
  const given = process.argv.slice(2).filter((argument) => argument !== '--');
  if (given.length > 0) {
    yield* given;
    return;
  }
  for await (const line of createInterface({ input: process.stdin })) if (line.trim()) yield line.trim();
}

async function read(browser: Browser, url: string): Promise<PageReading> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  try {
    const page = await context.newPage();
    await page.goto(url, { timeout: OPEN_TIMEOUT_MS, waitUntil: 'domcontentloaded' });
    return await readWhenSettled(page);
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

function chromiumPath(): string | undefined {
  return process.env['CHROMIUM_PATH'] || CANDIDATES.find((path) => existsSync(path));
}

async function main(): Promise<number> {
  const executablePath = chromiumPath();
  if (!executablePath) {
    complain('No Chromium found: set CHROMIUM_PATH, or install chromium.');
    return 1;
  }
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  try {
    for await (const asked of wanted()) {
      try {
        const reading = await read(browser, asked);
        process.stdout.write(`${JSON.stringify({ ...reading, url: asked, final_url: reading.url })}\n`);
      } catch (error) {
        complain(`${asked}: ${error instanceof Error ? error.message.split('\n')[0] : 'could not be opened'}`);
        process.stdout.write(`${JSON.stringify(unavailable(asked))}\n`);
      }
    }
  } finally {
    await browser.close();
  }
  return 0;
}

process.exitCode = await main();
