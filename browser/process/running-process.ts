import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessSignal, ProcessStatus } from '../../contract/processes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { HostCommand } from './isolation.ts';
import { childrenOf, ignoresTermination, listProcesses, processTree } from './process-list.ts';
import type { Connection, OutputListener, StartedChild, TerminalSize } from './started-child.ts';
import { startChild } from './started-child.ts';

/** Exit code of a command that was ended because its time was over: the one that timeout(1) gives. */
const TIMED_OUT_CODE = 124;
/** Longest that a command may take from its start until it hears signals, in milliseconds, and how often it is looked at. */
const HEARS_TIMEOUT_MS = 2_000;
const HEARS_POLL_MS = 3;
/** How much input a process may leave unread, in bytes. */
const MAX_UNREAD_INPUT = 4 * 1024 * 1024;

/** A process of a session. */
export interface RunningProcess {
  /** Its id on the machine. */
  pid: number;
  startedAt: Date;
  hasTerminal: boolean;
  /** Null while it runs. */
  exitCode(): number | null;
  /** Resolves with its exit code. */
  ended: Promise<number>;
  status(): Promise<ProcessStatus>;
  /** Sends a signal to its whole group (with a terminal: to every group of it). False when it has ended. */
  signal(signal: ProcessSignal): Promise<boolean>;
  /** Throws `operation_failed` when it takes no input (any more). */
  write(data: Buffer): Promise<void>;
  resize(size: TerminalSize): void;
}

/** What {@link startProcess} starts. */
interface ProcessStart {
  command: HostCommand;
  /** True when outer processes stand around it that hear no signals: bwrap's. */
  wrapped: boolean;
  connection: Connection;
  timeoutMs: number | null;
  onOutput: OutputListener;
}

/** Starts a process; resolves when a signal would reach it. */
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
    // What it left behind in its group ends with it; with bwrap, the namespace has seen to that.
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

/**
 * Shells put each job of a terminal into a group of its own, so all groups of the terminal's session are told. Without a
 * terminal there is one group, and the kernel tells all of it at once.
 */
async function sendSignal(child: StartedChild, signal: ProcessSignal): Promise<void> {
  if (child.hasTerminal) {
    const entries = await listProcesses();
    const groups = new Set(entries.filter(({ session }) => session === child.pid).map(({ group }) => group));
    for (const group of groups) killGroup(group, signal);
  }
  killGroup(child.pid, signal);
}

function killGroup(group: number, signal: ProcessSignal): void {
  // A group id of 1 or less would mean other processes altogether.
  if (group <= 1) return;
  try {
    process.kill(-group, `SIG${signal}`);
  } catch {
    // It has ended meanwhile.
  }
}

/**
 * The processes of bwrap ignore signals, and so does the command until it is set free of that, some milliseconds after
 * its start: a signal sent before would be lost. Looks no more at one that has ended: most commands are shorter than the
 * longest wait, and each look takes the service's processor time.
 */
async function waitUntilSignalable(pid: number, hasEnded: () => boolean): Promise<void> {
  const deadline = Date.now() + HEARS_TIMEOUT_MS;
  while (!hasEnded() && Date.now() < deadline) {
    // bwrap on the machine, then bwrap as the first process of the namespace, then the command.
    for (const first of await childrenOf(pid)) {
      for (const command of await childrenOf(first)) if ((await ignoresTermination(command)) === false) return;
    }
    await pause(HEARS_POLL_MS);
  }
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
