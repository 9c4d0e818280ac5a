import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const START_WITHIN_MS = 300_000;
const UNPACK = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack';
const execute = promisify(execFile);

/** Runs a command to its end; answers what it printed. Rejects when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const { stdout } = await execute(command, args, { ...options, maxBuffer: 64 * 2 ** 20 });
  return stdout;
}

/** A server of an application in a process group of its own. */
export interface ServerProcess {
  stop(): Promise<void>;
}

/** Starts a server and waits until `url` answers, with a status below 500 that is not 404. */
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
  // However the bench ends: a server in a group of its own would outlive it.
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', kill);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (said = (said + data.toString()).slice(-4000)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    kill();
    await ended;
    process.off('exit', kill);
  };
  const end = Date.now() + START_WITHIN_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > end) {
      await stop();
      throw new Error(`${command} did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { stop };
}

async function answers(url: string): Promise<boolean> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(5000), redirect: 'manual' });
    // A proxy before the application answers earlier than it does: with 404, for it knows no way yet.
    return status < 500 && status !== 404;
  } catch {
    return false;
  }
}

/** A Python environment with these packages from PyPI; answers its folder of programs. */
export async function pythonPackages(folder: string, packages: readonly string[]): Promise<string> {
  const bin = join(folder, 'bin');
  if (!existsSync(join(folder, 'installed'))) {
    await run('python3', ['-m', 'venv', folder]);
    await run(join(bin, 'pip'), ['install', '--quiet', ...packages]);
    await mkdir(join(folder, 'installed'));
  }
  return bin;
}

/** A folder with these packages from npm. */
export async function npmPackages(folder: string, packages: readonly string[]): Promise<void> {
  if (existsSync(join(folder, 'installed'))) return;
  await mkdir(folder, { recursive: true });
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...packages]);
  await mkdir(join(folder, 'installed'));
}

/** A ZIP or WAR archive from Maven Central, unpacked into `folder`. `artifact`: group, name, version, type and perhaps classifier, by colons. */
export async function mavenArchive(folder: string, artifact: string): Promise<void> {
  if (existsSync(join(folder, 'installed'))) return;
  await mkdir(folder, { recursive: true });
  await run('mvn', ['--quiet', '--batch-mode', UNPACK, `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`], {
    cwd: folder,
  });
  await mkdir(join(folder, 'installed'));
}

/** Builds `target/<jar>` of a Spring application that is one class, unless it is there already. Rejects when it cannot be built. */
export async function springJar(
  folder: string,
  jar: string,
  pom: string,
  [file, program]: readonly [file: string, program: string],
): Promise<void> {
  if (existsSync(join(folder, 'target', jar))) return;
  const sources = join(folder, 'src', 'main', 'java', 'demo');
  await mkdir(sources, { recursive: true });
  await writeFile(join(folder, 'pom.xml'), pom);
  await writeFile(join(sources, file), program);
  await run('mvn', ['--quiet', '--batch-mode', 'package'], { cwd: folder });
}

/** Settings of a Spring application, as its command line takes them. */
export function springArguments(settings: Readonly<Record<string, string>>): string[] {
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
}

/** The files of Debian packages, unpacked into `folder` without being installed. */
export async function debianFiles(folder: string, packages: readonly string[]): Promise<void> {
  if (existsSync(join(folder, 'installed'))) return;
  await mkdir(folder, { recursive: true });
  await run('sh', ['-c', `apt-get download ${packages.join(' ')} && for each in *.deb; do dpkg -x "$each" .; done`], {
    cwd: folder,
  });
  await mkdir(join(folder, 'installed'));
}

/** A program of a Go module, built into `folder`. */
export async function goProgram(folder: string, pack: string): Promise<void> {
  if (existsSync(join(folder, 'installed'))) return;
  await mkdir(folder, { recursive: true });
  await run('go', ['install', pack], { env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' } });
  await mkdir(join(folder, 'installed'));
}
