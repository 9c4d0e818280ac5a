import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The result of a command, with the end of its output on both streams. */
export interface CommandResult {
  ok: boolean;
  output: string;
}

/** Options of {@link run}. */
interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The user to run as; defaults to the current one. */
  uid?: number;
  gid?: number;
  /** Milliseconds after which it is killed and fails. Default 20 minutes. */
  timeoutMs?: number;
  /** Called with the process id. */
  onStart?: (pid: number) => void;
  /** Called with each line of output. */
  onLine?: (line: string) => void;
}

const DEFAULT_TIMEOUT_MS = 1_200_000;
/** How often an installation is retried that failed because of another one's lock. */
const MAX_LOCK_RETRIES = 3;
/** Maximum characters of retained output. */
const MAX_OUTPUT = 20_000;

/** Runs a program to completion. Never rejects: a program that cannot be started counts as failed. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      uid: options.uid,
      gid: options.gid,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    if (child.pid !== undefined) options.onStart?.(child.pid);
    let output = '';
    let rest = '';
    const append = (chunk: Buffer): void => {
      const text = chunk.toString('utf8');
      output = (output + text).slice(-MAX_OUTPUT);
      if (!options.onLine) return;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) options.onLine(line);
    };
    child.stdout.on('data', append);
    child.stderr.on('data', append);
    child.on('error', (error) => {
      resolve({ ok: false, output: error.message });
    });
    child.on('close', (code) => {
      resolve({ ok: code === 0, output });
    });
  });
}

/** The last non-empty line, truncated: for a one-line message. */
export function lastLine(output: string): string {
  const line = output
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .at(-1);
  return (line ?? 'no output').slice(0, 200);
}

/** True for an executable file. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** Absolute path of the first of `names` found on PATH. */
export async function findOnPath(names: readonly string[], path = process.env.PATH ?? ''): Promise<string | undefined> {
  for (const name of names) {
    for (const folder of path.split(delimiter)) {
      if (folder === '') continue;
      const candidate = join(folder, name);
      if (await isExecutable(candidate)) return candidate;
    }
  }
  return undefined;
}

/** Subfolders named after versions, newest first; none if the folder is missing. */
export async function versionFolders(parent: string): Promise<string[]> {
  try {
    const names = await readdir(parent);
    return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(parent, name));
  } catch {
    return [];
  }
}

/** True if Debian packages can be installed: apt-get exists and we are root. */
export async function canAptInstall(): Promise<boolean> {
  return process.getuid?.() === 0 && (await isExecutable('/usr/bin/apt-get'));
}

/** Installs Debian packages. Waits for another apt to finish. */
export async function aptInstall(packages: readonly string[], onLine: (line: string) => void): Promise<CommandResult> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300', '-o', 'APT::Get::Lock::Timeout=300'];
  const updated = await run('apt-get', [...wait, 'update', '-q'], { env, onLine, timeoutMs: 300_000 });
  const install = () =>
    run('apt-get', [...wait, 'install', '-y', '-q', '--no-install-recommends', ...packages], { env, onLine });
  let installed = await install();
  // apt-get waits for dpkg's lock only before it starts; if the lock is taken right afterwards, it fails.
  for (let retry = 0; retry < MAX_LOCK_RETRIES && !installed.ok && /lock was locked/.test(installed.output); retry++)
    installed = await install();
  return installed.ok ? installed : { ok: false, output: `${updated.output}\n${installed.output}` };
}
