import { spawn as spawnChild } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { constants } from 'node:os';
import { spawn as spawnTerminal } from '@lydell/node-pty';
import { HoldfastError } from '../../contract/errors.ts';
import type { HostCommand } from './isolation.ts';
import type { OutputStream } from './output-ring.ts';

/** Size of a terminal. */
export interface TerminalSize {
  cols: number;
  rows: number;
}

/** Takes the service's end of a socket that a command has beside its streams. */
type ChannelListener = (end: Socket) => void;

/**
 * How a command is connected. `channels`: sockets to the service, from descriptor 3 on; each end is handed over as the
 * command starts, for what nobody reads is lost when it ends.
 */
export type Connection =
  | { kind: 'pipes'; stdin: boolean; channels?: readonly ChannelListener[] }
  | { kind: 'terminal'; size: TerminalSize };

/** A started command, whatever it is connected to. Its group is led by `pid`. */
export interface StartedChild {
  pid: number;
  hasTerminal: boolean;
  /** Resolves when it has ended and all its output was handed out: its exit code, 128 and the number for a signal. */
  ended: Promise<number>;
  /** Resolves when the bytes were taken over by the system; rejects when they cannot be. */
  write(data: Buffer): Promise<void>;
  resize(size: TerminalSize): void;
}

/** Takes output. A promise asks to wait with more; a terminal's output does not wait. */
export type OutputListener = (stream: OutputStream, data: Buffer) => Promise<void> | undefined;

/** How long output may still come from what outlived the command itself, in milliseconds. */
const LATE_OUTPUT_MS = 500;

/** Starts a command. Rejects with `invalid_request` or `operation_failed` when the system cannot start it. */
export function startChild(
  command: HostCommand,
  connection: Connection,
  onOutput: OutputListener,
): Promise<StartedChild> {
  return connection.kind === 'terminal'
    ? startInTerminal(command, connection.size, onOutput)
    : startWithPipes(command, connection, onOutput);
}

async function startWithPipes(
  { program, args, env }: HostCommand,
  { stdin, channels = [] }: Extract<Connection, { kind: 'pipes' }>,
  onOutput: OutputListener,
): Promise<StartedChild> {
  const child = spawnChild(program, args, {
    env,
    cwd: '/',
    // A group of its own: signals reach all of it and nothing else.
    detached: true,
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...channels.map(() => 'pipe' as const)],
  });
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (data: Buffer) => {
      const full = onOutput(stream, data);
      if (full === undefined) return;
      child[stream]?.pause();
      void full.finally(() => child[stream]?.resume());
    });
  }
  // A command that has closed its input, or ended: whoever writes learns it from the write itself.
  child.stdin?.on('error', () => undefined);
  const ended = endOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error: NodeJS.ErrnoException) => reject(startFault(error)));
  });
  for (const [number, take] of channels.entries()) {
    const end = child.stdio[3 + number];
    if (end instanceof Socket) take(end);
  }
  return {
    pid: child.pid ?? -1,
    hasTerminal: false,
    ended,
    write: (data) =>
      new Promise((resolve, reject) => {
        if (child.stdin?.writable !== true) reject(new Error('the input is closed'));
        else child.stdin.write(data, (error) => (error instanceof Error ? reject(error) : resolve()));
      }),
    resize: () => undefined,
  };
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    let code = -1;
    child.once('exit', (exitCode, signal) => {
      code = exitCode ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      // Processes that it left behind may hold its ends open for ever; what they say within the time still counts.
      const ends = child.stdio.filter((end) => end instanceof Socket);
      const heard = (): number => ends.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      let before = heard();
      const silence = setInterval(() => {
        const now = heard();
        const isOver = now === before && child.stdout?.isPaused() !== true;
        before = now;
        if (isOver) for (const end of ends) end.destroy();
      }, LATE_OUTPUT_MS);
      child.once('close', () => clearInterval(silence));
    });
    child.once('close', () => resolve(code));
  });
}

function startInTerminal(
  { program, args, env }: HostCommand,
  { cols, rows }: TerminalSize,
  onOutput: OutputListener,
): Promise<StartedChild> {
  const terminal = openTerminal(program, args, { env, cwd: '/', cols, rows, name: 'xterm-256color', encoding: null });
  // It takes bytes as it gives them, whatever the library's types say.
  const input: { write(data: string | Buffer): void } = terminal;
  // With no encoding the data are bytes, whatever the library's types say.
  terminal.onData((data: string | Buffer) => onOutput('stdout', Buffer.from(data)));
  let over = false;
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      over = true;
      resolve(signal === undefined || signal === 0 ? exitCode : 128 + signal);
    });
  });
  return Promise.resolve({
    pid: terminal.pid,
    hasTerminal: true,
    ended,
    write: (data) => {
      if (over) return Promise.reject(new Error('the terminal is closed'));
      input.write(data);
      return Promise.resolve();
    },
    resize: (size) => {
      if (!over) terminal.resize(size.cols, size.rows);
    },
  });
}

const openTerminal: typeof spawnTerminal = (...args) => {
  try {
    return spawnTerminal(...args);
  } catch {
    throw new HoldfastError('operation_failed', 'No terminal is available on this machine; retry later');
  }
};

function startFault(error: NodeJS.ErrnoException): HoldfastError {
  return error.code === 'E2BIG'
    ? new HoldfastError('invalid_request', 'args: exceeds the length that the system accepts')
    : new HoldfastError('operation_failed', 'No process can be started on this machine; retry later');
}
