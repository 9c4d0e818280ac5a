import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** How a command ended, and the last of what it printed on both streams. */
export interface CommandResult {
  ok: boolean;
  output: string;
}

/** Options of {@link run}. */
export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** Whom to run it as; us when not given. */
  uid?: number;
  gid?: number;
  /** Milliseconds after which it is killed and counts as failed. Default: 20 minutes. */
  timeoutMs?: number;
  /** Called with the id of the process that was started. */
  onStart?: (pid: number) => void;
  /** Called with each line printed. */
  onLine?: (line: string) => void;
}

const DEFAULT_TIMEOUT_MS = 1_200_000;
/** How often an installation is begun again that another one's lock has ended. */
const MAX_LOCKED = 3;
/** Characters of output kept for a message. */
const KEPT_OUTPUT = 20_000;

/** Runs a program to its end. Never rejects: a program that cannot be started is a failed one. */
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
    const take = (chunk: Buffer): void => {
      const text = chunk.toString('utf8');
      output = (output + text).slice(-KEPT_OUTPUT);
      if (!options.onLine) return;
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) options.onLine(line);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (error) => {
      resolve({ ok: false, output: error.message });
    });
    child.on('close', (code) => {
      resolve({ ok: code === 0, output });
    });
  });
}

/** Last line that says something, cut short: for a one-line message. */
export function lastLine(output: string): string {
  const line = output
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .at(-1);
  return (line ?? 'no output').slice(0, 200);
}

/** True for a file that may be executed. */
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

/** Sub-folders of a folder, newest version first; none when it is missing. */
export async function versionFolders(parent: string): Promise<string[]> {
  try {
    const names = await readdir(parent);
    return names.sort((a, b) => b.localeCompare(a, 'en', { numeric: true })).map((name) => join(parent, name));
  } catch {
    return [];
  }
}

/** True when Debian's packages can be installed: apt-get is there and we are root. */
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
  // apt-get waits for dpkg's lock before it begins; one that is taken in the moment after ends it, and then it waits anew.
  for (let again = 0; again < MAX_LOCKED && !installed.ok && /lock was locked/.test(installed.output); again++)
    installed = await install();
  return installed.ok ? installed : { ok: false, output: `${updated.output}\n${installed.output}` };
}
