import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const START_WITHIN_MS = 300_000;
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack';
const execute = promisify(execFile);

/** Runs a command and returns its stdout. `env` extends this process's. Rejects if the command fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const env = { ...process.env, ...options.env };
  const { stdout } = await execute(command, args, { cwd: options.cwd, env, maxBuffer: 64 * 2 ** 20 });
  return stdout;
}

/** An application's server, in its own process group. */
export interface ServerProcess {
  stop(): Promise<void>;
}

/** Starts a server and waits until `url` returns a status below 500 other than 404. `env` extends this process's. */
export async function startServer(
  command: string,
  args: readonly string[],
  url: string,
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A server in its own process group would outlive the bench.
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output = (output + data.toString()).slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    kill();
    await ended;
    process.off('exit', kill);
  };
  const end = Date.now() + START_WITHIN_MS;
  while (!(await isReady(url))) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`${command} did not start: ${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { stop };
}

/** A server, and a way to end every session it has. */
export interface RestartableServer extends ServerProcess {
  endSessions(): Promise<void>;
}

/**
 * Starts a server whose sessions do not survive a restart. `start` receives a secret for signing cookies, another one on
 * each start; `clear` deletes what the stopped server stored of its sessions, if it stores any.
 */
export async function startRestartable(
  start: (secret: string) => Promise<ServerProcess>,
  clear?: () => Promise<unknown>,
): Promise<RestartableServer> {
  let server = await start('a'.repeat(64));
  return {
    endSessions: async () => {
      await server.stop();
      await clear?.();
      server = await start('b'.repeat(64));
    },
    stop: () => server.stop(),
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(5000), redirect: 'manual' });
    // A proxy in front of the application is up first and has no routes yet: 404.
    return status < 500 && status !== 404;
  } catch {
    return false;
  }
}

/** Runs `install` in `folder` unless it has completed there before. */
async function installOnce(folder: string, install: () => Promise<unknown>): Promise<void> {
  if (existsSync(join(folder, 'installed'))) return;
  await mkdir(folder, { recursive: true });
  await install();
  await mkdir(join(folder, 'installed'));
}

/** Creates a Python environment with packages from PyPI; its programs are in `bin`. */
export function pythonPackages(folder: string, packages: readonly string[]): Promise<void> {
  return installOnce(folder, async () => {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...packages]);
  });
}

/** Installs packages from npm into `folder/node_modules`. */
export function npmPackages(folder: string, packages: readonly string[]): Promise<void> {
  return installOnce(folder, () => run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...packages]));
}

/** Unpacks a ZIP or WAR archive from Maven Central. `artifact`: group:name:version:type[:classifier]. */
export function mavenArchive(folder: string, artifact: string): Promise<void> {
  const args = ['--quiet', '--batch-mode', UNPACK, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  return installOnce(folder, () => run('mvn', args, { cwd: folder }));
}

/** Unpacks Debian packages without installing them. */
export function debianFiles(folder: string, packages: readonly string[]): Promise<void> {
  const script = `apt-get download ${packages.join(' ')} && for each in *.deb; do dpkg -x "$each" .; done`;
  return installOnce(folder, () => run('sh', ['-c', script], { cwd: folder }));
}

/** Builds a Go program. */
export function goProgram(folder: string, pack: string): Promise<void> {
  const env = { GOBIN: folder, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
  return installOnce(folder, () => run('go', ['install', pack], { env }));
}

/** Executes one statement on an SQLite database, with Python's driver. */
export async function executeSql(database: string, statement: string, values: readonly string[] = []): Promise<void> {
  const script = 'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2], sys.argv[3:]); c.commit()';
  await run('python3', ['-c', script, database, statement, ...values]);
}

/** Command line options of the form `--name=value`. */
export function optionArguments(options: Readonly<Record<string, string>>): string[] {
  return Object.entries(options).map(([name, value]) => `--${name}=${value}`);
}
