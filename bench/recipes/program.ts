import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { run } from '../applications/server-process.ts';

/** Longest that a recipe may run, in milliseconds: a login and a handful of steps of a model. */
const RUN_WITHIN_MS = 300_000;
/** What of the surroundings would change how a recipe installs or runs. */
const FOREIGN =
  /^(npm_(lifecycle|package|command|execpath|node)|NODE_|VITEST|HOLDFAST_|KERNEL_|OPENAI_|PYTHONPATH|VIRTUAL_ENV|INIT_CWD)/;
/** A recipe brings no browser of its own: it uses that of Holdfast. */
const NO_DOWNLOADS = { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', PUPPETEER_SKIP_DOWNLOAD: '1' };

const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }).optional(),
});

/** How a recipe in a folder of its own is installed and started. */
export interface Program {
  /** Direct packages with their versions, as the recipe pins them. */
  packages: string[];
  command: string;
  args: string[];
}

/** Installs what the recipe in `folder` names, by npm or pip. Rejects when a package cannot be had. */
export async function install(folder: string): Promise<Program> {
  const env = { ...surroundings(), ...NO_DOWNLOADS };
  if (await exists(join(folder, 'package.json'))) {
    const { dependencies, engines } = Manifest.parse(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')));
    await run('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, env });
    const packages = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`);
    return { packages, command: await nodeFor(engines?.node, folder), args: ['index.mjs'] };
  }
  const python = join(folder, '.venv', 'bin', 'python');
  const pinned = (await readFile(join(folder, 'requirements.txt'), 'utf8')).trim().split('\n');
  await run('python3', ['-m', 'venv', '.venv'], { cwd: folder, env });
  await run(python, ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'], { cwd: folder, env });
  return { packages: pinned.map((line) => line.replace('==', ' ')), command: python, args: ['main.py'] };
}

/** The running Node.js where it is new enough for `engines` (`>=22.18.0`), else one of that generation from the registry. */
async function nodeFor(engines: string | undefined, folder: string): Promise<string> {
  const wanted = (engines ?? '>=0').replace('>=', '').split('.').map(Number);
  const running = process.versions.node.split('.').map(Number);
  const differing = wanted.findIndex((part, index) => part !== running[index]);
  if (differing === -1 || (running[differing] ?? 0) > (wanted[differing] ?? 0)) return process.execPath;
  const home = join(folder, '.node');
  await mkdir(home);
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, `node@${String(wanted[0])}`], {
    cwd: home,
    env: surroundings(),
  });
  return join(home, 'node_modules', 'node', 'bin', 'node');
}

/** A recipe that runs. */
export interface Running {
  /** What it has printed so far. */
  output(): string;
  hasEnded(): boolean;
  /** Resolves with what it printed when it ends well; rejects with that when it fails or takes five minutes. */
  ended: Promise<string>;
}

/** Starts an installed recipe with its folder as home, so that no file of the person who calls is read or written. */
export function start({ command, args }: Program, folder: string, env: Record<string, string>): Running {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...surroundings(), HOME: folder, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
  // A group of its own: what it started ends with it, however it ends.
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended.
    }
  };
  process.once('exit', killGroup);
  let over = false;
  const end = async (): Promise<string> => {
    const late = new AbortController();
    const closed = once(child, 'exit').then(([code]: unknown[]) => (code === 0 ? null : `ended with ${String(code)}`));
    const timeout = wait(RUN_WITHIN_MS, 'is not done in five minutes', { signal: late.signal }).catch(() => null);
    const fault = await Promise.race([closed, timeout]);
    over = true;
    late.abort();
    killGroup();
    process.off('exit', killGroup);
    if (fault !== null) throw new Error(`${fault}\n${lastOf(said)}`);
    return said;
  };
  return { output: () => said, hasEnded: () => over, ended: end() };
}

/** The end of what a recipe printed, without the code of the page to log in on. */
export function lastOf(output: string): string {
  return output.replaceAll(/code=\S+/g, 'code=…').slice(-2000);
}

function surroundings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !FOREIGN.test(name)));
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
