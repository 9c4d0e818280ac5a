import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { run } from '../applications/server-process.ts';

/** Timeout of a recipe in milliseconds: a login and a few steps of a model. */
const RUN_WITHIN_MS = 300_000;
/** Variables of the caller that would change how a recipe installs or runs. */
const EXCLUDED_VARIABLES =
  /^(npm_(lifecycle|package|command|execpath|node)|NODE_|VITEST|HOLDFAST_|KERNEL_|OPENAI_|PYTHONPATH|VIRTUAL_ENV|INIT_CWD)/;
/** Recipes use Holdfast's browsers and need none of their own. */
const NO_DOWNLOADS = { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1', PUPPETEER_SKIP_DOWNLOAD: '1' };

const Manifest = z.object({
  dependencies: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }).optional(),
});

/** An installed recipe and how to start it. */
export interface Program {
  /** Direct dependencies with the versions that the recipe pins. */
  packages: string[];
  command: string;
  args: string[];
}

/** Installs the dependencies of the recipe in `folder` with npm or pip. Rejects if a package is unavailable. */
export async function install(folder: string): Promise<Program> {
  const env = { ...cleanEnvironment(), ...NO_DOWNLOADS };
  if (existsSync(join(folder, 'package.json'))) {
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

/** The running Node.js if it satisfies `engines` (`>=22.18.0`), otherwise that major version from the registry. */
async function nodeFor(engines: string | undefined, folder: string): Promise<string> {
  const wanted = (engines ?? '>=0').replace('>=', '').split('.').map(Number);
  const running = process.versions.node.split('.').map(Number);
  const differing = wanted.findIndex((part, index) => part !== running[index]);
  if (differing === -1 || (running[differing] ?? 0) > (wanted[differing] ?? 0)) return process.execPath;
  const home = join(folder, '.node');
  await mkdir(home);
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', home, `node@${String(wanted[0])}`], {
    cwd: home,
    env: cleanEnvironment(),
  });
  return join(home, 'node_modules', 'node', 'bin', 'node');
}

/** A running recipe. */
export interface RunningProgram {
  /** Its output so far. */
  output(): string;
  hasEnded(): boolean;
  /** Resolves with its output; rejects, with the end of its output, if it fails or takes five minutes. */
  ended: Promise<string>;
}

/** Starts an installed recipe with its folder as HOME, so that it reads and writes no files of the caller. */
export function start({ command, args }: Program, folder: string, env: Record<string, string>): RunningProgram {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...cleanEnvironment(), HOME: folder, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (printed += data.toString()));
  // Ends the whole process group, including child processes.
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group has already ended.
    }
  };
  process.once('exit', killGroup);
  let isDone = false;
  const end = async (): Promise<string> => {
    const late = new AbortController();
    const closed = once(child, 'exit').then(([code]: unknown[]) => (code === 0 ? null : `exited with ${String(code)}`));
    const timeout = wait(RUN_WITHIN_MS, 'did not finish within five minutes', { signal: late.signal }).catch(
      () => null,
    );
    const fault = await Promise.race([closed, timeout]);
    isDone = true;
    late.abort();
    killGroup();
    process.off('exit', killGroup);
    if (fault !== null) throw new Error(`${fault}\n${lastOf(printed)}`);
    return printed;
  };
  return { output: () => printed, hasEnded: () => isDone, ended: end() };
}

/** The last part of a recipe's output, without the code of its login link. */
export function lastOf(output: string): string {
  return output.replaceAll(/code=\S+/g, 'code=…').slice(-2000);
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !EXCLUDED_VARIABLES.test(name)));
}
