import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createStore, type Store } from '../../store/store.ts';
import { loadKeys } from '../../start/keys.ts';
import { storeConnection } from '../../start/backends.ts';
import { freePortBlock } from '../setup/free-port-block.ts';

/** The processes that `npm start` runs, and the one that watches over them. */
export type Role = 'supervisor' | 'api' | 'worker' | 'browser' | 'store' | 'temporal' | 'sandbox';

/** A whole Holdfast as a person runs it, in processes of its own, that may be killed. */
export interface ProcessTree {
  readonly baseUrl: string;
  readonly sandboxUrl: string;
  /** Host and port of the sandbox, as a connection's domain. */
  readonly sandboxDomain: string;
  readonly temporalAddress: string;
  /** The key that it made at its first start. */
  readonly apiKey: string;
  readonly dataDir: string;
  /** All that the supervisor has printed, over all its starts. */
  output(): string;
  /** Process ids of a role; empty while it is down. */
  pids(role: Role): Promise<number[]>;
  /** Main processes of all Chromiums that belong to this tree. */
  chromiums(): Promise<number[]>;
  /** `kill -9` of a role. Rejects when it does not run. */
  kill(role: Role): Promise<void>;
  /** `kill -9` of every Chromium that drives a session with this id (its folder is named after it). */
  killChromium(sessionId: string): Promise<void>;
  /** Status of `GET /health`; 0 when nobody answers. */
  health(): Promise<number>;
  /** Resolves when /health is 200. */
  untilHealthy(withinMs?: number): Promise<void>;
  /** Starts it (again) on the same data folder and resolves when it says that it is ready. */
  start(): Promise<void>;
  /** Ctrl-C; resolves when all has ended. */
  stop(): Promise<void>;
  /** The store of this tree, opened from outside. Close it. */
  openStore(): Promise<Store>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/** Settings of the surroundings that would lead a tree to somebody else's servers. */
const FOREIGN = /^(DATABASE_URL|BROWSER_|TEMPORAL_|HOLDFAST_|npm_|VITEST|NODE_ENV$)/;
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const READY_WITHIN_MS = 240_000;
const LOOK_EVERY_MS = 100;

/** Makes a tree on free ports and a data folder of its own, and starts it. */
export async function startProcessTree(env: NodeJS.ProcessEnv = {}): Promise<ProcessTree> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-tree-'));
  // The API's, and the five after it.
  const port = await freePortBlock(6);
  const surroundings = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const environment = {
    ...Object.fromEntries(surroundings),
    HOLDFAST_PORT: String(port),
    HOLDFAST_DATA_DIR: dataDir,
    // As under npm: a start whose parent is gone ends by itself, so that a broken-off test run leaves nothing running.
    npm_lifecycle_event: 'start',
    ...env,
  };
  let supervisor: ChildProcess | null = null;
  let said = '';
  let apiKey = '';

  const tree: ProcessTree = {
    baseUrl: `http://localhost:${port}`,
    sandboxUrl: `http://localhost:${port + 1}`,
    sandboxDomain: `localhost:${port + 1}`,
    temporalAddress: `127.0.0.1:${port + 4}`,
    get apiKey() {
      return apiKey;
    },
    dataDir,
    output: () => said,
    pids: async (role) => {
      const pid = supervisor?.pid;
      if (pid === undefined || hasEnded(supervisor)) return [];
      return role === 'supervisor' ? [pid] : await pidsOf(role, pid);
    },
    chromiums: () => processesWith((args) => isChromium(args, dataDir)),
    async kill(role) {
      const pids = await until(async () => nonEmpty(await tree.pids(role)), 30_000, `${role} to run`);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      if (role === 'supervisor') await until(() => Promise.resolve(hasEnded(supervisor) || null), 60_000, 'its end');
    },
    async killChromium(sessionId) {
      const store = await sessionFolders(tree, sessionId);
      const pids = await processesWith((args) => isChromium(args, dataDir) && store.some((name) => has(args, name)));
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    },
    async health() {
      try {
        return (await fetch(`${tree.baseUrl}/health`, { signal: AbortSignal.timeout(5000) })).status;
      } catch {
        return 0;
      }
    },
    async untilHealthy(withinMs = 60_000) {
      await until(async () => (await tree.health()) === 200 || null, withinMs, '/health to be 200');
    },
    async start() {
      const from = said.length;
      const child = spawn(process.execPath, ['start/bootstrap.mjs', 'start'], {
        cwd: root,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      supervisor = child;
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (said += data.toString()));
      const printed = await until(
        () => {
          if (hasEnded(child)) throw new Error(`npm start ended: ${said.slice(from)}`);
          return Promise.resolve(/^Holdfast is ready\.$[^]*? {2}API key +(\S+)\n/m.exec(said.slice(from))?.[1] ?? null);
        },
        READY_WITHIN_MS,
        'npm start to be ready',
      );
      if (apiKey !== '' && printed !== apiKey) throw new Error(`npm start has another key: ${printed}`);
      apiKey = printed;
    },
    async stop() {
      const child = supervisor;
      if (child === null || hasEnded(child)) return;
      child.kill('SIGINT');
      await until(() => Promise.resolve(hasEnded(child) || null), 60_000, 'npm start to stop');
    },
    async openStore() {
      const { masterKey } = await loadKeys({
        dataDir,
        masterKeys: undefined,
        apiKey: undefined,
        browserApiKey: undefined,
      });
      return createStore({ connection: storeConnection({ dataDir, databaseUrl: undefined }), masterKey });
    },
    async remove() {
      await tree.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
    },
  };
  try {
    await tree.start();
  } catch (error) {
    await tree.remove();
    throw error;
  }
  return tree;
}

/** Asks `look` until it answers something that is not null. */
export async function until<Found>(
  look: () => Promise<Found | null>,
  withinMs: number,
  what: string,
  everyMs = LOOK_EVERY_MS,
): Promise<Found> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

function hasEnded(child: ChildProcess | null): boolean {
  return child === null || child.exitCode !== null || child.signalCode !== null;
}

/** Programs that are not ours are children of the shells that guard them: an argument of each shell, and the program. */
const FOREIGN_PROGRAMS: Partial<Record<Role, { argument: string; program: string }>> = {
  temporal: { argument: 'start-dev', program: 'temporal' },
  store: { argument: 'cluster_name=', program: 'postgres' },
};

/** Children of the supervisor by what they run. */
async function pidsOf(role: Role, supervisor: number): Promise<number[]> {
  const children = await childrenOf(supervisor);
  const mine = await Promise.all(
    children.map(async (pid) => {
      const args = await argumentsOf(pid);
      const foreign = FOREIGN_PROGRAMS[role];
      if (foreign === undefined) return has(args, '/start/cli.js') && args.at(-1) === role ? [pid] : [];
      if (!args.some((arg) => arg.startsWith(foreign.argument))) return [];
      const below = await childrenOf(pid);
      const programs = await Promise.all(below.map(async (each) => (await argumentsOf(each))[0]));
      return below.filter((_each, index) => programs[index]?.endsWith(`/${foreign.program}`));
    }),
  );
  return mine.flat();
}

/** A browser process (its helpers have a `--type`) whose folder lies in ours. */
function isChromium(args: readonly string[], dataDir: string): boolean {
  const ours = args.some((arg) => arg.startsWith(`--user-data-dir=${dataDir}/`));
  return ours && !args.some((arg) => arg.startsWith('--type='));
}

/** Browsers that waited before they were taken have folders without a session's name: all that run are theirs then. */
async function sessionFolders(tree: ProcessTree, sessionId: string): Promise<string[]> {
  const folders = await readdir(join(tree.dataDir, 'browsers', 'sessions')).catch(() => []);
  const named = folders.filter((folder) => folder.startsWith(sessionId));
  return named.length > 0 ? named : folders;
}

function has(args: readonly string[], part: string): boolean {
  return args.some((arg) => arg.endsWith(part));
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return text.split(' ').filter(Boolean).map(Number);
}

async function processesWith(fits: (args: readonly string[]) => boolean): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const matching = await Promise.all(pids.map(async (pid) => (fits(await argumentsOf(pid)) ? [pid] : [])));
  return matching.flat();
}

async function argumentsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').filter(Boolean);
}

function nonEmpty<Item>(items: Item[]): Item[] | null {
  return items.length === 0 ? null : items;
}
