import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createStore, type Store } from '../../store/store.ts';
import { loadKeys } from '../../start/keys.ts';
import { storeConnection } from '../../start/backends.ts';
import { freePortBlock } from '../setup/free-port-block.ts';
import { waitFor } from './until.ts';

/** The processes of `npm start`: the supervisor and the roles. */
export type Role = 'supervisor' | 'api' | 'worker' | 'browser' | 'store' | 'temporal' | 'sandbox';

/** An installation as `npm start` runs it, whose processes can be killed. */
export interface ProcessTree {
  readonly baseUrl: string;
  readonly sandboxUrl: string;
  /** Host and port of the sandbox, as a connection's domain. */
  readonly sandboxDomain: string;
  readonly temporalAddress: string;
  /** The API key created on the first start. */
  readonly apiKey: string;
  readonly dataDir: string;
  /** Output of the supervisor over all starts. */
  output(): string;
  /** Process ids of a role; empty while it is down. */
  pids(role: Role): Promise<number[]>;
  /** Main processes of all Chromiums that belong to this tree. */
  chromiums(): Promise<number[]>;
  /** Sends SIGKILL to a role. Rejects if it is not running. */
  kill(role: Role): Promise<void>;
  /** Sends SIGKILL to the Chromium of a session, whose folder is named after the session. */
  killChromium(sessionId: string): Promise<void>;
  /** Status of `GET /health`; 0 without a response. */
  health(): Promise<number>;
  /** Resolves when /health is 200. */
  untilHealthy(withinMs?: number): Promise<void>;
  /** Starts it, again on the same data folder; resolves once it is ready. */
  start(): Promise<void>;
  /** Sends SIGINT; resolves once all processes have ended. */
  stop(): Promise<void>;
  /** Opens the tree's store. Close it. */
  openStore(): Promise<Store>;
  /** Stops it and deletes its data. */
  remove(): Promise<void>;
}

/** Variables of the caller that would connect the tree to other servers. */
const EXCLUDED_VARIABLES = /^(DATABASE_URL|BROWSER_|TEMPORAL_|HOLDFAST_|npm_|VITEST|NODE_ENV$)/;
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const READY_WITHIN_MS = 240_000;

/** Starts a tree on free ports with a new data folder. */
export async function startProcessTree(env: NodeJS.ProcessEnv = {}): Promise<ProcessTree> {
  const dataDir = await mkdtemp(join(tmpdir(), 'holdfast-tree-'));
  // The API uses the first port, other roles the next five.
  const port = await freePortBlock(6);
  const inherited = Object.entries(process.env).filter(([name]) => !EXCLUDED_VARIABLES.test(name));
  const environment = {
    ...Object.fromEntries(inherited),
    HOLDFAST_PORT: String(port),
    HOLDFAST_DATA_DIR: dataDir,
    // As under npm, it exits when its parent is gone, so that an aborted test run leaves no processes.
    npm_lifecycle_event: 'start',
    ...env,
  };
  let supervisor: ChildProcess | null = null;
  let output = '';
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
    output: () => output,
    pids: async (role) => {
      const pid = supervisor?.pid;
      if (pid === undefined || hasEnded(supervisor)) return [];
      return role === 'supervisor' ? [pid] : await pidsOf(role, pid);
    },
    chromiums: () => processesWith((args) => isChromium(args, dataDir)),
    async kill(role) {
      const pids = await waitFor(async () => nonEmpty(await tree.pids(role)), 30_000, `${role} to run`);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      if (role === 'supervisor') await waitFor(() => Promise.resolve(hasEnded(supervisor) || null), 60_000, 'its end');
    },
    async killChromium(sessionId) {
      const folders = await sessionFolders(tree, sessionId);
      const pids = await processesWith((args) => isChromium(args, dataDir) && folders.some((name) => has(args, name)));
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
      await waitFor(async () => (await tree.health()) === 200 || null, withinMs, '/health to be 200');
    },
    async start() {
      const from = output.length;
      const child = spawn(process.execPath, ['start/bootstrap.mjs', 'start'], {
        cwd: root,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      supervisor = child;
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => (output += data.toString()));
      const printed = await waitFor(
        () => {
          if (hasEnded(child)) throw new Error(`npm start ended: ${output.slice(from)}`);
          return Promise.resolve(
            /^Holdfast is ready\.$[^]*? {2}API key +(\S+)\n/m.exec(output.slice(from))?.[1] ?? null,
          );
        },
        READY_WITHIN_MS,
        'npm start to be ready',
      );
      if (apiKey !== '' && printed !== apiKey) throw new Error(`npm start printed another key: ${printed}`);
      apiKey = printed;
    },
    async stop() {
      const child = supervisor;
      if (child === null || hasEnded(child)) return;
      child.kill('SIGINT');
      await waitFor(() => Promise.resolve(hasEnded(child) || null), 60_000, 'npm start to stop');
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

function hasEnded(child: ChildProcess | null): boolean {
  return child === null || child.exitCode !== null || child.signalCode !== null;
}

/** Third-party programs run as children of a guarding shell: an argument of the shell, and the program. */
const FOREIGN_PROGRAMS: Partial<Record<Role, { argument: string; program: string }>> = {
  temporal: { argument: 'start-dev', program: 'temporal' },
  store: { argument: 'cluster_name=', program: 'postgres' },
};

/** Process ids of a role among the supervisor's children. */
async function pidsOf(role: Role, supervisor: number): Promise<number[]> {
  const children = await childrenOf(supervisor);
  const matching = await Promise.all(
    children.map(async (pid) => {
      const args = await argumentsOf(pid);
      const foreign = FOREIGN_PROGRAMS[role];
      if (foreign === undefined) return has(args, '/start/cli.js') && args.at(-1) === role ? [pid] : [];
      if (!args.some((arg) => arg.startsWith(foreign.argument))) return [];
      const grandchildren = await childrenOf(pid);
      const programs = await Promise.all(grandchildren.map(async (each) => (await argumentsOf(each))[0]));
      return grandchildren.filter((_each, index) => programs[index]?.endsWith(`/${foreign.program}`));
    }),
  );
  return matching.flat();
}

/** Whether this is a main browser process (helpers have a `--type`) with a profile in `dataDir`. */
function isChromium(args: readonly string[], dataDir: string): boolean {
  const isOurs = args.some((arg) => arg.startsWith(`--user-data-dir=${dataDir}/`));
  return isOurs && !args.some((arg) => arg.startsWith('--type='));
}

/** A session's folders. A warm browser keeps its folder's name, so without a match all folders are returned. */
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

async function processesWith(matches: (args: readonly string[]) => boolean): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const matching = await Promise.all(pids.map(async (pid) => (matches(await argumentsOf(pid)) ? [pid] : [])));
  return matching.flat();
}

async function argumentsOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').filter(Boolean);
}

function nonEmpty<Item>(items: Item[]): Item[] | null {
  return items.length === 0 ? null : items;
}
