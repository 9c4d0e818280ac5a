import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ProcessExec, ProcessSpawn } from '../../contract/processes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { withFileErrors } from '../files/file-errors.ts';
import type { ExecOutput } from './exec-output.ts';
import { createExecOutput } from './exec-output.ts';
import type { Isolation, ProcessUser, MountedFile } from './isolation.ts';
import { killSessionProcesses } from './process-list.ts';
import type { OutputRing } from './output-ring.ts';
import { createOutputRing } from './output-ring.ts';
import type { RunningProcess } from './running-process.ts';
import { endOrKill, startProcess } from './running-process.ts';
import type { SessionFolder } from './session-folder.ts';
import type { Connection, OutputListener } from './started-child.ts';

/** Most running processes of a session. */
const MAX_RUNNING = 64;
/** How many exited processes of a session remain queryable. */
const MAX_ENDED = 256;
/** How many of the latest exited processes keep their output. */
const MAX_ENDED_WITH_OUTPUT = 16;
/** Size of a process's output buffer, in bytes. */
const OUTPUT_BYTES = 1024 * 1024;
/** Runs commands without arguments. */
const SHELL = '/bin/sh';
/** Default terminal size. */
const DEFAULT_TERMINAL = { cols: 80, rows: 24 };

/** Why processes cannot run, and how the operator can change that. */
export const PROCESSES_UNAVAILABLE =
  'Processes are disabled: this machine has no sandbox for them. Its operator can install bubblewrap ' +
  '(apt-get install bubblewrap; containers need permission to create namespaces), or allow processes on the machine ' +
  'itself with BROWSER_ALLOW_UNSANDBOXED_PROCESSES=on';

/** A process that can be looked up by its id. */
export interface SpawnedProcess {
  id: string;
  process: RunningProcess;
  output: OutputRing;
}

/** Result of a foreground command. */
export interface ExecResult {
  exitCode: number;
  durationMs: number;
  stdout: ExecOutput;
  stderr: ExecOutput;
  dispose(): Promise<void>;
}

/** The processes of one session. */
export interface SessionProcesses {
  spawn(request: ProcessSpawn): Promise<SpawnedProcess>;
  /** Runs a command to completion; the signal kills it. */
  exec(request: ProcessExec, signal: AbortSignal): Promise<ExecResult>;
  /** Starts one of the service's own programs, with files of the machine mounted. Callers cannot look it up. */
  start(
    request: ProcessExec,
    connection: Connection,
    onOutput: OutputListener,
    mounts?: readonly MountedFile[],
  ): Promise<RunningProcess>;
  /** Path of a mounted file, as such a program sees it. */
  sandboxPath(file: MountedFile): string;
  /** Throws `not_found`. */
  find(id: string): SpawnedProcess;
  /** Kills all processes; resolves when they are gone. Nothing can be started afterwards. */
  close(): Promise<void>;
}

interface SessionProcessesDeps {
  isolation: Isolation;
  folder: SessionFolder;
  /** Display of the session's browser; null without one. */
  display: string | null;
  /** Whether a folder exists, as the session's processes see it. */
  isFolder: (sessionPath: string) => Promise<boolean>;
}

export function createSessionProcesses(deps: SessionProcessesDeps): SessionProcesses {
  const { isolation, folder } = deps;
  const running = new Set<RunningProcess>();
  const spawned = new Map<string, SpawnedProcess>();
  const starting = new Set<Promise<unknown>>();
  let closed = false;

  const start = (
    request: ProcessExec,
    connection: Connection,
    onOutput: OutputListener,
    mounts: readonly MountedFile[] = [],
  ): Promise<RunningProcess> => {
    if (closed) return Promise.reject(new HoldfastError('not_found', 'The browser session has ended'));
    if (running.size + starting.size >= MAX_RUNNING) {
      const fault = `A session allows at most ${String(MAX_RUNNING)} running processes; kill one first`;
      return Promise.reject(new HoldfastError('operation_failed', fault));
    }
    const start = startNow(request, connection, onOutput, mounts).finally(() => starting.delete(start));
    starting.add(start);
    return start;
  };

  const startNow = async (
    request: ProcessExec,
    connection: Connection,
    onOutput: OutputListener,
    mounts: readonly MountedFile[],
  ): Promise<RunningProcess> => {
    const files = path.join(folder.work, randomUUID());
    const [envFile, optionsFile] = [`${files}.env`, `${files}.options`];
    const cleanUp = (): Promise<unknown> =>
      Promise.all([envFile, optionsFile].map((file) => rm(file, { force: true })));
    try {
      const user = userOf(request, isolation);
      const environment: Record<string, string> = {
        ...isolation.environment(folder, user, deps.display),
        ...(connection.kind === 'terminal' ? { TERM: 'xterm-256color' } : {}),
        ...request.env,
      };
      const cwd = request.cwd ?? environment.HOME ?? '/';
      if (!(await deps.isFolder(cwd))) {
        throw new HoldfastError('invalid_request', 'cwd: no such directory in the session; create it first');
      }
      const { command, args } = programOf(request);
      const { display } = deps;
      // Reports a full disk as such.
      const wrapped = await withFileErrors(async () => {
        await writeFile(envFile, exportLines(environment), { mode: 0o600 });
        return isolation.wrap(folder, { command, args, cwd, user, envFile, optionsFile, display, mounts });
      });
      const process = await startProcess({
        command: wrapped,
        wrapped: isolation.kind === 'bwrap',
        connection,
        timeoutMs: typeof request.timeout_sec === 'number' ? request.timeout_sec * 1000 : null,
        onOutput,
      });
      running.add(process);
      void process.ended.then(async () => {
        running.delete(process);
        await cleanUp();
      });
      return process;
    } catch (error) {
      await cleanUp();
      throw error;
    }
  };

  return {
    start,
    sandboxPath: (file) => isolation.sandboxPath(file),
    spawn: async (request) => {
      const output = createOutputRing(OUTPUT_BYTES);
      const process = await start(request, connectionOf(request), (stream, data) => {
        output.push(stream, data);
        return undefined;
      });
      const entry = { id: randomUUID(), process, output };
      spawned.set(entry.id, entry);
      void process.ended.then(() => {
        output.end();
        // Reinserted, so that the map is in order of exit and the latest is evicted last.
        spawned.delete(entry.id);
        spawned.set(entry.id, entry);
        evictOldest(spawned);
      });
      return entry;
    },
    exec: async (request, signal) => {
      const startedAt = performance.now();
      const file = path.join(folder.work, randomUUID());
      const outputs = { stdout: createExecOutput(`${file}.stdout`), stderr: createExecOutput(`${file}.stderr`) };
      const dispose = async (): Promise<void> => {
        await Promise.all([outputs.stdout.dispose(), outputs.stderr.dispose()]);
      };
      try {
        const process = await start(request, { kind: 'pipes', stdin: false }, (stream, data) =>
          outputs[stream].push(data),
        );
        const exitCode = await endOrKill(process, signal);
        return { exitCode, durationMs: Math.round(performance.now() - startedAt), ...outputs, dispose };
      } catch (error) {
        await dispose();
        throw error;
      }
    },
    find: (id) => {
      const entry = spawned.get(id);
      if (entry === undefined) {
        throw new HoldfastError('not_found', 'Process not found; it may have exited long ago');
      }
      return entry;
    },
    close: async () => {
      closed = true;
      await Promise.allSettled(starting);
      await Promise.all(
        [...running].map(async (process) => {
          await process.signal('KILL');
          await process.ended;
        }),
      );
      // A namespace ends with its first process; without one, processes may have left their group.
      if (isolation.kind === 'none') await killSessionProcesses(folder.root);
    },
  };
}

/** The program with its arguments, or a shell for a command line without any. */
function programOf({ command, args }: ProcessExec): { command: string; args: readonly string[] } {
  return args === undefined || args === null ? { command: SHELL, args: ['-c', command] } : { command, args };
}

function connectionOf(request: ProcessSpawn): Connection {
  if (request.allocate_tty !== true) return { kind: 'pipes', stdin: true };
  const { cols, rows } = DEFAULT_TERMINAL;
  return { kind: 'terminal', size: { cols: request.cols ?? cols, rows: request.rows ?? rows } };
}

/** Throws `invalid_request` for an unknown user, `forbidden` for one that this machine does not support. */
function userOf(request: ProcessExec, isolation: Isolation): ProcessUser {
  const name = request.as_user ?? null;
  const asRoot = request.as_root ?? false;
  if (name !== null && !isolation.users.includes(name)) {
    throw new HoldfastError('invalid_request', `as_user: must be ${isolation.users.join(' or ')}`);
  }
  if (asRoot && name !== null && name !== 'root') {
    throw new HoldfastError('invalid_request', 'as_root: conflicts with as_user; send one of them');
  }
  if (!asRoot && name !== 'root') return 'user';
  if (!isolation.hasRoot) {
    throw new HoldfastError('forbidden', 'as_root: not available on this machine; leave it out');
  }
  return 'root';
}

/** POSIX shell lines; the contract restricts names to plain ones, values are quoted. */
function exportLines(environment: Record<string, string>): string {
  const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');
}

function evictOldest(spawned: Map<string, SpawnedProcess>): void {
  const ended = [...spawned.values()].filter(({ process }) => process.exitCode() !== null);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) spawned.delete(id);
  for (const { output } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_WITH_OUTPUT))) output.clear();
}

/** The processes of a session. Throws `forbidden` if processes are disabled. */
export function processesOf(session: { workspace: { processes: SessionProcesses | null } }): SessionProcesses {
  if (session.workspace.processes !== null) return session.workspace.processes;
  throw new HoldfastError('forbidden', PROCESSES_UNAVAILABLE);
}
