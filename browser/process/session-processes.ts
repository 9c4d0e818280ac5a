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
import { startProcess } from './running-process.ts';
import type { SessionFolder } from './session-folder.ts';
import type { Connection, OutputListener } from './started-child.ts';

/** Most processes of one session that run at the same time. */
const MAX_RUNNING = 64;
/** How many ended processes of a session can still be asked about. */
const MAX_ENDED = 256;
/** How many of them, the latest, still have their output. */
const MAX_ENDED_WITH_OUTPUT = 16;
/** How much of a process's output is kept for readers, in bytes. */
const OUTPUT_BYTES = 1024 * 1024;
/** What runs a command that has no arguments. */
const SHELL = '/bin/sh';
/** Terminal of a process that names no size. */
const DEFAULT_TERMINAL = { cols: 80, rows: 24 };

/** Why processes are refused, for a caller who cannot change it and an operator who can. */
export const PROCESSES_UNAVAILABLE =
  'Processes are not run here: this machine has no sandbox for them. Its operator can install bubblewrap ' +
  '(apt-get install bubblewrap; containers need permission to make namespaces), or allow processes on the machine ' +
  'itself by BROWSER_ALLOW_UNSANDBOXED_PROCESSES=on';

/** A process that can be asked about by its id. */
export interface SpawnedProcess {
  id: string;
  process: RunningProcess;
  output: OutputRing;
}

/** What a command that was waited for did. */
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
  /** Runs a command to its end; the signal ends it early, with nobody left to tell. */
  exec(request: ProcessExec, signal: AbortSignal): Promise<ExecResult>;
  /** Starts a program of the service's own, which is shown files of the machine. Nobody else can ask about it. */
  start(
    request: ProcessExec,
    connection: Connection,
    onOutput: OutputListener,
    shown?: readonly MountedFile[],
  ): Promise<RunningProcess>;
  /** Where such a program finds what it is shown. */
  sandboxPath(shown: MountedFile): string;
  /** Throws `not_found`. */
  find(id: string): SpawnedProcess;
  /** Kills them all; resolves when all are gone. Nothing can be started after. */
  close(): Promise<void>;
}

/** What {@link createSessionProcesses} needs. */
interface SessionProcessesDeps {
  isolation: Isolation;
  folder: SessionFolder;
  /** Display of the session's browser; null without one. */
  display: string | null;
  /** Whether a folder is there, as the session's processes would see it. */
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
    shown: readonly MountedFile[] = [],
  ): Promise<RunningProcess> => {
    if (closed) return Promise.reject(new HoldfastError('not_found', 'The browser session has ended'));
    if (running.size + starting.size >= MAX_RUNNING) {
      const fault = `A session allows at most ${String(MAX_RUNNING)} running processes; kill one first`;
      return Promise.reject(new HoldfastError('operation_failed', fault));
    }
    const start = startNow(request, connection, onOutput, shown).finally(() => starting.delete(start));
    starting.add(start);
    return start;
  };

  const startNow = async (
    request: ProcessExec,
    connection: Connection,
    onOutput: OutputListener,
    shown: readonly MountedFile[],
  ): Promise<RunningProcess> => {
    const files = path.join(folder.work, randomUUID());
    const [envFile, optionsFile] = [`${files}.env`, `${files}.options`];
    const forget = (): Promise<unknown> => Promise.all([envFile, optionsFile].map((file) => rm(file, { force: true })));
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
      // A full disk is told as such.
      const wrapped = await withFileErrors(async () => {
        await writeFile(envFile, exportLines(environment), { mode: 0o600 });
        return isolation.wrap(folder, { command, args, cwd, user, envFile, optionsFile, display, shown });
      });
      const process = await startProcess({
        command: wrapped,
        wrapped: isolation.kind === 'bwrap',
        connection,
        timeoutMs: milliseconds(request.timeout_sec ?? null),
        onOutput,
      });
      running.add(process);
      void process.ended.then(async () => {
        running.delete(process);
        await forget();
      });
      return process;
    } catch (error) {
      await forget();
      throw error;
    }
  };

  return {
    start,
    sandboxPath: (shown) => isolation.sandboxPath(shown),
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
        // The order of ending: the latest to end is the last to be forgotten.
        spawned.delete(entry.id);
        spawned.set(entry.id, entry);
        forgetOldest(spawned);
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
        const stop = (): void => void process.signal('KILL');
        if (signal.aborted) stop();
        signal.addEventListener('abort', stop);
        const exitCode = await process.ended;
        signal.removeEventListener('abort', stop);
        return { exitCode, durationMs: Math.round(performance.now() - startedAt), ...outputs, dispose };
      } catch (error) {
        await dispose();
        throw error;
      }
    },
    find: (id) => {
      const entry = spawned.get(id);
      if (entry === undefined) {
        throw new HoldfastError('not_found', 'Process not found, or it ended long ago; list the session’s processes');
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
      // A namespace ends with its first process; without one, some may have left their group.
      if (isolation.kind === 'none') await killSessionProcesses(folder.root);
    },
  };
}

/** What runs: the program that was named with its arguments, or the shell for a line that has none. */
function programOf({ command, args }: ProcessExec): { command: string; args: readonly string[] } {
  return args === undefined || args === null ? { command: SHELL, args: ['-c', command] } : { command, args };
}

function milliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}

function connectionOf(request: ProcessSpawn): Connection {
  if (request.allocate_tty !== true) return { kind: 'pipes', stdin: true };
  const { cols, rows } = DEFAULT_TERMINAL;
  return { kind: 'terminal', size: { cols: request.cols ?? cols, rows: request.rows ?? rows } };
}

/** Throws `invalid_request` for a user that there is not, `forbidden` for one that this machine cannot give. */
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

/** Lines for a POSIX shell to read: names are plain (contract), values are quoted. */
function exportLines(environment: Record<string, string>): string {
  const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}=${quoted(value)}\n`)
    .join('');
}

function forgetOldest(spawned: Map<string, SpawnedProcess>): void {
  const ended = [...spawned.values()].filter(({ process }) => process.exitCode() !== null);
  for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) spawned.delete(id);
  for (const { output } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_WITH_OUTPUT))) output.clear();
}

/** The processes of a session; throws `forbidden` where processes must not run. */
export function processesOf(session: { space: { processes: SessionProcesses | null } }): SessionProcesses {
  if (session.space.processes !== null) return session.space.processes;
  throw new HoldfastError('forbidden', PROCESSES_UNAVAILABLE);
}
