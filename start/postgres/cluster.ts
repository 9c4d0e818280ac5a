import { createHash } from 'node:crypto';
import { chown, mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { lastLine, run } from '../setup/command.ts';
import { SetupError } from '../setup/setup-error.ts';
import type { PostgresBinaries } from './binaries.ts';

/** A Postgres data folder, and how to run programs on it. */
export interface Cluster {
  folder: string;
  /** Appears in the title of each of its processes, and only there. */
  name: string;
  /** The command line of a program on this folder. */
  command(program: string, args: readonly string[]): { program: string; args: string[] };
  /** User and environment of its programs. */
  launch: { cwd: string; env: NodeJS.ProcessEnv; uid?: number; gid?: number };
}

/**
 * Opens its working directory, then executes the program in another one: a program that may not traverse the path to its folder
 * can use this handle. The working directory alone would not suffice, because Postgres before 16 returns to it by name.
 */
const WITH_FOLDER_OPEN = ['/bin/sh', '-c', 'exec 9<. && cd / && exec "$@"', 'sh'] as const;
const OPEN_FOLDER = '/proc/self/fd/9';

/** How long processes of a killed server have to exit before they are killed, in milliseconds. */
const LEFTOVER_GRACE_MS = 10_000;
const POLL_MS = 50;

/** Major version of the server that created a data folder; undefined if there is none. */
export async function clusterMajor(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/**
 * The cluster in a folder, created with `initdb` if missing: under a temporary name first, so that an interruption leaves no
 * partial cluster. Postgres does not run as root: then the folder belongs to `nobody`, who needs no access to its parents.
 */
export async function openCluster(folder: string, binaries: PostgresBinaries, durable = true): Promise<Cluster> {
  const user = await serverUser(folder);
  const cluster = clusterAt(folder, user);
  if ((await clusterMajor(folder)) !== undefined) return cluster;

  const unfinished = `${folder}.new`;
  // An `initdb` of a killed start may still write there; without its files it soon exits.
  await rm(unfinished, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 });
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await mkdir(unfinished, { mode: 0o700 });
  if (user !== undefined) await chown(unfinished, user.uid, user.gid);
  const draft = clusterAt(unfinished, user);
  const provider = binaries.major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : [];
  const initdb = draft.command(join(binaries.folder, 'initdb'), [
    ...['-U', 'postgres', '--auth=peer', '-E', 'UTF8', '--locale=C', ...provider],
    ...(durable ? [] : ['--no-sync']),
  ]);
  const made = await run(initdb.program, initdb.args, draft.launch);
  if (!made.ok) throw new SetupError(`Cannot create the database in ${folder}: ${lastLine(made.output)}`);
  await rename(unfinished, folder);
  return cluster;
}

/**
 * Prepares a cluster for a new server: ends leftover processes of an earlier server, removes its lock files (their process ids
 * may have been reused), and grants access only to the user of this process. Call it only while no other start can use the
 * folder.
 */
export async function prepareCluster(cluster: Cluster): Promise<void> {
  await endLeftovers(cluster.name);
  for (const file of ['postmaster.pid', '.s.PGSQL.5432', '.s.PGSQL.5432.lock'])
    await rm(join(cluster.folder, file), { force: true });
  // The kernel authenticates clients; there is no password.
  await writeOwned(cluster, 'pg_hba.conf', 'local all postgres peer map=holdfast\n');
  await writeOwned(cluster, 'pg_ident.conf', `holdfast "${userInfo().username}" postgres\n`);
}

function clusterAt(folder: string, user: { uid: number; gid: number } | undefined): Cluster {
  const byHandle = user !== undefined && process.platform === 'linux';
  return {
    folder,
    name: `holdfast-${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`,
    command(program, args) {
      if (!byHandle) return { program, args: ['-D', folder, ...args] };
      const [shell, ...script] = WITH_FOLDER_OPEN;
      return { program: shell, args: [...script, program, '-D', OPEN_FOLDER, ...args] };
    },
    // Not our own environment, which may contain the master key.
    launch: { cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' }, ...user },
  };
}

async function serverUser(folder: string): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(folder).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const [uid, gid] = await Promise.all([run('id', ['-u', 'nobody']), run('id', ['-g', 'nobody'])]);
  if (uid.ok && gid.ok) return { uid: Number(uid.output), gid: Number(gid.output) };
  throw new SetupError('Postgres does not run as root, and there is no user `nobody`; start as another user');
}

async function writeOwned(cluster: Cluster, name: string, text: string): Promise<void> {
  const path = join(cluster.folder, name);
  await writeFile(path, text, { mode: 0o600 });
  const { uid, gid } = cluster.launch;
  if (uid !== undefined && gid !== undefined) await chown(path, uid, gid);
}

async function endLeftovers(name: string): Promise<void> {
  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    const deadline = Date.now() + LEFTOVER_GRACE_MS;
    for (const pid of await findProcesses(name)) kill(pid, signal);
    while ((await findProcesses(name)).length > 0) {
      if (Date.now() > deadline) break;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already exited.
  }
}

/** The processes of a cluster's server, and the shell that guards it. */
async function findProcesses(name: string): Promise<number[]> {
  if (process.platform !== 'linux') {
    const { output } = await run('ps', ['-axo', 'pid=,command=']);
    const lines = output.split('\n').filter((line) => line.includes(name));
    return lines.map((line) => Number.parseInt(line, 10));
  }
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const titles = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_pid, index) => titles[index]?.includes(name)).map(Number);
}
