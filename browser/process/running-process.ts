import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessSignal, ProcessStatus } from '../../contract/processes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { HostCommand } from './isolation.ts';
import { childrenOf, ignoresTermination, listProcesses, processTree } from './process-list.ts';
import type { Connection, OutputListener, StartedChild, TerminalSize } from './started-child.ts';
import { startChild } from './started-child.ts';

/** Exit code of a command that timed out, as of timeout(1). */
export const TIMED_OUT_CODE = 124;
/** How long a started command may take until signals reach it, and the polling interval; in milliseconds. */
const SIGNALABLE_TIMEOUT_MS = 2_000;
const SIGNALABLE_POLL_MS = 3;
/** Largest backlog of input that a process has not read, in bytes. */
const MAX_UNREAD_INPUT = 4 * 1024 * 1024;

/** A process of a session. */
export interface RunningProcess {
  /** Pid on the machine. */
  pid: number;
  startedAt: Date;
  hasTerminal: boolean;
  /** Null while running. */
  exitCode(): number | null;
  /** Resolves with its exit code. */
  ended: Promise<number>;
  status(): Promise<ProcessStatus>;
  /** Signals its process group, or all groups of its terminal. False if it has exited. */
  signal(signal: ProcessSignal): Promise<boolean>;
  /** Writes to stdin. Throws `operation_failed` if it is closed or not being read. */
  write(data: Buffer): Promise<void>;
  resize(size: TerminalSize): void;
}

/** What {@link startProcess} starts. */
interface ProcessStart {
  command: HostCommand;
  /** True if bwrap's processes, which ignore signals, surround it. */
  wrapped: boolean;
  connection: Connection;
  timeoutMs: number | null;
  onOutput: OutputListener;
}

/** Starts a process; resolves once signals reach it. */
export async function startProcess(start: ProcessStart): Promise<RunningProcess> {
  const startedAt = new Date();
  const child = await startChild(start.command, start.connection, start.onOutput);
  let exitCode: number | null = null;
  let timedOut = false;
  let unread = 0;
  const timer =
    start.timeoutMs === null
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          void sendSignal(child, 'KILL');
        }, start.timeoutMs);
  const ended = child.ended.then((code) => {
    clearTimeout(timer);
    exitCode = timedOut ? TIMED_OUT_CODE : code;
    // Kills what it left behind in its group; with bwrap, the namespace already did.
    if (!start.wrapped) killGroup(child.pid, 'KILL');
    return exitCode;
  });
  if (start.wrapped) await Promise.race([waitUntilSignalable(child.pid, () => exitCode !== null), ended]);

  return {
    pid: child.pid,
    startedAt,
    hasTerminal: child.hasTerminal,
    exitCode: () => exitCode,
    ended,
    status: async () => {
      if (exitCode !== null) return { state: 'exited', exit_code: exitCode };
      return { state: 'running', exit_code: null, ...(await usage(child.pid, startedAt)) };
    },
    signal: async (signal) => {
      if (exitCode !== null) return false;
      await sendSignal(child, signal);
      return true;
    },
    write: async (data) => {
      if (exitCode !== null) throw new HoldfastError('operation_failed', 'The process has exited');
      if (unread > 0 && unread + data.length > MAX_UNREAD_INPUT) {
        throw new HoldfastError('operation_failed', 'The process is not reading its input; retry once it has');
      }
      unread += data.length;
      try {
        await Promise.race([child.write(data), ended.then(() => Promise.reject(new Error('ended')))]);
      } catch {
        throw new HoldfastError('operation_failed', 'The process has closed its input');
      } finally {
        unread -= data.length;
      }
    },
    resize: (size) => {
      child.resize(size);
    },
  };
}

/** Shells put each job of a terminal into its own group, so all groups of the terminal's session are signaled. */
async function sendSignal(child: StartedChild, signal: ProcessSignal): Promise<void> {
  if (child.hasTerminal) {
    const entries = await listProcesses();
    const groups = new Set(entries.filter(({ session }) => session === child.pid).map(({ group }) => group));
    for (const group of groups) killGroup(group, signal);
  }
  killGroup(child.pid, signal);
}

function killGroup(group: number, signal: ProcessSignal): void {
  // A group id of 1 or less would address other processes.
  if (group <= 1) return;
  try {
    process.kill(-group, `SIG${signal}`);
  } catch {
    // It has exited.
  }
}

/**
 * bwrap's processes ignore signals, and so does the command until `env` restores the defaults, some milliseconds after its start:
 * a signal sent earlier would be lost. Stops polling once the command has exited, to save CPU time.
 */
async function waitUntilSignalable(pid: number, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + SIGNALABLE_TIMEOUT_MS;
  while (!hasEnded() && Date.now() < deadline) {
    // bwrap on the machine, then bwrap as the first process of the namespace, then the command.
    for (const first of await childrenOf(pid)) {
      for (const command of await childrenOf(first)) if ((await ignoresTermination(command)) === false) return;
    }
    await pause(SIGNALABLE_POLL_MS);
  }
}

/** Waits for a process to exit, and kills it on abort. Resolves to its exit code. */
export async function endOrKill(process: RunningProcess, signal: AbortSignal): Promise<number> {
  const kill = (): void => void process.signal('KILL');
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill);
  const exitCode = await process.ended;
  signal.removeEventListener('abort', kill);
  return exitCode;
}

async function usage(pid: number, startedAt: Date): Promise<Pick<ProcessStatus, 'cpu_pct' | 'mem_bytes'>> {
  const tree = await processTree(pid);
  if (tree.length === 0) return {};
  const cpuSeconds = tree.reduce((sum, entry) => sum + entry.cpuSeconds, 0);
  const seconds = Math.max(0.01, (Date.now() - startedAt.getTime()) / 1000);
  return {
    cpu_pct: Math.round((cpuSeconds / seconds) * 1000) / 10,
    mem_bytes: tree.reduce((sum, entry) => sum + entry.memoryBytes, 0),
  };
}
