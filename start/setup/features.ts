import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheRoot } from './tools.ts';
import { aptInstall, canAptInstall, findOnPath, lastLine, run } from './command.ts';
import { withProgress } from './progress.ts';
import { SetupError } from './setup-error.ts';

/** Programs that optional features use, and their Debian packages. */
const PACKAGES = {
  /** The display of browsers with a window. */
  Xvfb: 'xvfb',
  /** Records replays. */
  ffmpeg: 'ffmpeg',
  /** Mount namespaces: the sandbox of programs, and policies of a session. */
  bwrap: 'bubblewrap',
  /** Mouse and keyboard of a display. */
  xdotool: 'xdotool',
} as const;

type Tool = keyof typeof PACKAGES;

/** Features beyond logins, health checks and CDP, which need none of these programs. */
const FEATURES: readonly { name: string; tools: readonly Tool[] }[] = [
  { name: 'Browsers with a window', tools: ['Xvfb'] },
  { name: 'Input through the window', tools: ['Xvfb', 'xdotool'] },
  { name: 'Replays and recorded logins', tools: ['Xvfb', 'ffmpeg', 'bwrap'] },
  { name: 'Programs inside sessions', tools: ['bwrap'] },
];

/** Scripts of web pages, their fontconfig patterns, and the Debian packages with fonts for them. */
const SCRIPTS: readonly { name: string; pattern: string; package: string }[] = [
  { name: 'Chinese, Japanese and Korean', pattern: ':lang=ja', package: 'fonts-noto-cjk' },
  { name: 'Arabic', pattern: ':lang=ar', package: 'fonts-noto-core' },
  { name: 'Indic', pattern: ':lang=hi', package: 'fonts-noto-core' },
  { name: 'emoji', pattern: ':lang=und-zsye', package: 'fonts-noto-color-emoji' },
];

/** Whether a feature works on this machine. */
export interface FeatureState {
  name: string;
  /** Why it does not work, and what to do; undefined if it works. */
  fault?: string;
}

/** A failed installation is retried after a day, so that starts stay fast on a machine without network. */
const RETRY_AFTER_MS = 86_400_000;

/**
 * Installs the packages that features need, if possible (root on Debian), and returns which features work. Never rejects:
 * Holdfast runs without them, and rejects only requests that need them.
 */
export async function ensureFeatures(canInstall = canAptInstall()): Promise<FeatureState[]> {
  const tools = (await missingTools()).map((tool) => PACKAGES[tool]);
  const fonts = (await missingScripts()).map((script) => script.package);
  const missing = [...new Set([...tools, ...fonts])];
  if (missing.length > 0 && (await canInstall) && !(await hasFailedRecently(missing))) {
    await withProgress(`Installing ${missing.join(', ')} with apt-get`, async (progress) => {
      const { ok, output } = await aptInstall(missing, (line) => {
        progress.note(line.slice(0, 40));
      });
      // The progress shows the failure; the table below shows what is missing.
      if (!ok) throw new SetupError(`apt-get failed: ${lastLine(output)}`);
    }).catch(async (error: unknown) => {
      if (!(error instanceof SetupError)) throw error;
      process.stderr.write(`${error.message}\n`);
      await recordFailure(missing);
    });
  }
  return [...(await featureStates()), await fontState()];
}

/** The same for tests, which need all programs: rejects with a {@link SetupError} that says how to install missing ones. */
export async function requireFeatures(): Promise<void> {
  await ensureFeatures();
  const missing = await missingTools();
  if (missing.length === 0) return;
  const packages = missing.map((tool) => PACKAGES[tool]).join(' ');
  throw new SetupError(`${missing.join(', ')} missing; install them (Debian: apt-get install ${packages})`);
}

/** The table of features for the terminal; empty if everything works. */
export function featureTable(states: readonly FeatureState[]): string[] {
  if (states.every(({ fault }) => fault === undefined)) return [];
  const all = [{ name: 'Logins, health checks, CDP' }, ...states];
  const width = Math.max(...all.map(({ name }) => name.length));
  return ['  What works on this machine:', ...all.map((state) => row(state, width)), ''];
}

function row({ name, fault }: FeatureState, width: number): string {
  return `    ${name.padEnd(width)}  ${fault === undefined ? 'yes' : `no: ${fault}`}`;
}

async function missingTools(): Promise<Tool[]> {
  const tools = [...new Set(FEATURES.flatMap((feature) => feature.tools))];
  const found = await Promise.all(tools.map((tool) => findOnPath([tool])));
  return tools.filter((_tool, index) => found[index] === undefined);
}

async function featureStates(): Promise<FeatureState[]> {
  const missing = await missingTools();
  const sandbox = missing.includes('bwrap') ? undefined : await sandboxFault();
  return FEATURES.map(({ name, tools }) => {
    const absent = tools.filter((tool) => missing.includes(tool));
    const packages = absent.map((tool) => PACKAGES[tool]).join(' ');
    if (absent.length > 0) return { name, fault: `${absent.join(' and ')} missing (apt-get install ${packages})` };
    return tools.includes('bwrap') && sandbox !== undefined ? { name, fault: sandbox } : { name };
  });
}

/** In a container, bubblewrap may be installed but not permitted to work. */
async function sandboxFault(): Promise<string | undefined> {
  const tried = await run('bwrap', ['--dev-bind', '/', '/', 'true'], { timeoutMs: 10_000 });
  return tried.ok ? undefined : `bubblewrap may not create namespaces (${lastLine(tried.output)})`;
}

async function missingScripts(): Promise<(typeof SCRIPTS)[number][]> {
  const lists = await Promise.all(SCRIPTS.map(({ pattern }) => run('fc-list', [pattern], { timeoutMs: 10_000 })));
  return SCRIPTS.filter((_script, index) => lists[index]?.output.trim() === '');
}

async function fontState(): Promise<FeatureState> {
  const name = 'Fonts of every script';
  const missing = await missingScripts();
  if (missing.length === 0) return { name };
  const packages = [...new Set(missing.map((script) => script.package))].join(' ');
  return { name, fault: `none for ${missing.map((script) => script.name).join(', ')} (apt-get install ${packages})` };
}

function failureFile(packages: readonly string[]): string {
  return join(cacheRoot(), `apt-failed-${packages.join('-')}`);
}

async function hasFailedRecently(packages: readonly string[]): Promise<boolean> {
  return stat(failureFile(packages)).then(
    ({ mtimeMs }) => Date.now() - mtimeMs < RETRY_AFTER_MS,
    () => false,
  );
}

async function recordFailure(packages: readonly string[]): Promise<void> {
  await mkdir(cacheRoot(), { recursive: true });
  await writeFile(failureFile(packages), '');
}
