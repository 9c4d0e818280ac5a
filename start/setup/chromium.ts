import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { aptInstall, canAptInstall, findOnPath, isExecutable, lastLine, run } from './command.ts';
import { isReachable } from './tools.ts';
import { withProgress } from './progress.ts';
import { SetupError } from './setup-error.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC_CHROME = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const PLAYWRIGHT_HOST = 'https://cdn.playwright.dev/';

/**
 * Path of a Chromium: CHROMIUM_PATH, else found on PATH or in Playwright's cache, else downloaded by Playwright, else
 * installed with apt-get. Rejects with a {@link SetupError} that says how to install one.
 */
export async function findChromium(configured = process.env.CHROMIUM_PATH): Promise<string> {
  if (configured !== undefined && configured !== '') {
    if (await isExecutable(configured)) return configured;
    throw new SetupError(`CHROMIUM_PATH is '${configured}', which is not a program; correct or unset it`);
  }
  const found = await findInstalled();
  if (found !== undefined) return found;

  const reasons: string[] = [];
  if (await isReachable(PLAYWRIGHT_HOST)) {
    const cli = join(dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'cli.js');
    const installed = await withProgress('Downloading Chromium', (progress) =>
      run(process.execPath, [cli, 'install', 'chromium'], {
        onLine: (line) => {
          progress.note(/(\d+)%/.exec(line)?.[0] ?? '');
        },
      }),
    );
    const downloaded = await findInstalled();
    if (downloaded !== undefined) return downloaded;
    reasons.push(`Playwright's download failed (${lastLine(installed.output)})`);
  } else {
    reasons.push("Playwright's download host is unreachable");
  }

  if (await canAptInstall()) {
    const installed = await withProgress('Installing Chromium with apt-get', (progress) =>
      aptInstall(['chromium'], (line) => {
        progress.note(line.slice(0, 40));
      }),
    );
    const fromDebian = await findInstalled();
    if (fromDebian !== undefined) return fromDebian;
    reasons.push(`apt-get failed (${lastLine(installed.output)})`);
  }
  throw new SetupError(
    `No Chromium: ${reasons.join('; ')}; install it (Debian: apt-get install chromium) or set CHROMIUM_PATH to one`,
  );
}

async function findInstalled(): Promise<string | undefined> {
  const onPath = await findOnPath(NAMES);
  if (onPath !== undefined) return onPath;
  // Loaded only when needed, because it takes longer to load than the rest of a start.
  const { chromium } = await import('playwright-core');
  for (const candidate of [chromium.executablePath(), MAC_CHROME]) {
    if (candidate !== '' && (await isExecutable(candidate))) return candidate;
  }
  return undefined;
}
