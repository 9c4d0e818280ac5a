import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheRoot } from './tools.ts';
import { aptInstall, canAptInstall, findOnPath, lastLine, run } from './command.ts';
import { withProgress } from './progress.ts';
import { SetupError } from './setup-error.ts';

/** Programs that parts of the browser service use, and the Debian package each comes in. */
const PACKAGES = {
  /** The display of browsers with a window. */
  Xvfb: 'xvfb',
  /** Records replays. */
  ffmpeg: 'ffmpeg',
  /** Mount namespaces: the sandbox of programs, policies of a session's own. */
  bwrap: 'bubblewrap',
  /** Mouse and keyboard of a display. */
  xdotool: 'xdotool',
} as const;

type Tool = keyof typeof PACKAGES;

/** What callers can ask for beyond logins, health checks and CDP, which need none of this. */
const FEATURES: readonly { name: string; tools: readonly Tool[] }[] = [
  { name: 'Browsers with a window', tools: ['Xvfb'] },
  { name: 'Input through the window', tools: ['Xvfb', 'xdotool'] },
  { name: 'Replays and recorded logins', tools: ['Xvfb', 'ffmpeg', 'bwrap'] },
  { name: 'Programs inside sessions', tools: ['bwrap'] },
];

/** Scripts that pages are written in: how fontconfig names them, and the Debian package that draws them. */
const SCRIPTS: readonly { name: string; pattern: string; package: string }[] = [
  { name: 'Chinese, Japanese and Korean', pattern: ':lang=ja', package: 'fonts-noto-cjk' },
  { name: 'Arabic', pattern: ':lang=ar', package: 'fonts-noto-core' },
  { name: 'Indic', pattern: ':lang=hi', package: 'fonts-noto-core' },
  { name: 'emoji', pattern: ':lang=und-zsye', package: 'fonts-noto-color-emoji' },
];

/** Whether a feature works on this machine. */
export interface FeatureState {
  name: string;
  /** Why it does not, and what to do; undefined when it works. */
  fault?: string;
}

/** A failed installation is tried again a day later, so that starts on a machine without network stay short. */
const TRY_AGAIN_MS = 86_400_000;

/**
 * Installs what features need where that can be done (root on Debian), then tells which of them work. Never rejects: a Holdfast
 * without them runs, and refuses only what needs them.
 */
export async function provideFeatures(canInstall = canAptInstall()): Promise<FeatureState[]> {
  const tools = (await missingTools()).map((tool) => PACKAGES[tool]);
  const fonts = (await missingScripts()).map((script) => script.package);
  const missing = [...new Set([...tools, ...fonts])];
  if (missing.length > 0 && (await canInstall) && !(await hasFailedLately(missing))) {
    await withProgress(`Installing ${missing.join(', ')} with apt-get`, async (progress) => {
      const { ok, output } = await aptInstall(missing, (line) => {
        progress.note(line.slice(0, 40));
      });
      // The progress then says that it failed; the table that follows says what is missing for it.
      if (!ok) throw new SetupError(`apt-get failed: ${lastLine(output)}`);
    }).catch(async (error: unknown) => {
      if (!(error instanceof SetupError)) throw error;
      process.stderr.write(`${error.message}\n`);
      await noteFailure(missing);
    });
  }
  return [...(await featureStates()), await fontState()];
}

/** The same for tests, which need all of the programs: rejects with a {@link SetupError} that says how to get what is missing. */
export async function requireFeatures(): Promise<void> {
  await provideFeatures();
  const missing = await missingTools();
  if (missing.length === 0) return;
  const packages = missing.map((tool) => PACKAGES[tool]).join(' ');
  throw new SetupError(`${missing.join(', ')} missing; install them (Debian: apt-get install ${packages})`);
}

/** The table that the person at the terminal reads: empty when everything works. */
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
    const lacking = tools.filter((tool) => missing.includes(tool));
    const packages = lacking.map((tool) => PACKAGES[tool]).join(' ');
    if (lacking.length > 0) return { name, fault: `${lacking.join(' and ')} missing (apt-get install ${packages})` };
    return tools.includes('bwrap') && sandbox !== undefined ? { name, fault: sandbox } : { name };
  });
}

/** In a container bubblewrap may be there and not be allowed to work. */
async function sandboxFault(): Promise<string | undefined> {
  const tried = await run('bwrap', ['--dev-bind', '/', '/', 'true'], { timeoutMs: 10_000 });
  return tried.ok ? undefined : `bubblewrap may not make namespaces (${lastLine(tried.output)})`;
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

async function hasFailedLately(packages: readonly string[]): Promise<boolean> {
  return stat(failureFile(packages)).then(
    ({ mtimeMs }) => Date.now() - mtimeMs < TRY_AGAIN_MS,
    () => false,
  );
}

async function noteFailure(packages: readonly string[]): Promise<void> {
  await mkdir(cacheRoot(), { recursive: true });
  await writeFile(failureFile(packages), '');
}
