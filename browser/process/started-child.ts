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

/** Receives the service's end of an additional socket of a command. */
type ChannelListener = (end: Socket) => void;

/**
 * How a command is connected. `channels`: sockets to the service, from descriptor 3 on, passed on as the command starts, because
 * unread data is lost when it exits.
 */
export type Connection =
  | { kind: 'pipes'; stdin: boolean; channels?: readonly ChannelListener[] }
  | { kind: 'terminal'; size: TerminalSize };

/** A started command, which leads its process group. */
export interface StartedChild {
  pid: number;
  hasTerminal: boolean;
  /** Resolves after all output to the exit code, or to 128 plus the signal's number. */
  ended: Promise<number>;
  /** Resolves when the system has accepted the bytes. */
  write(data: Buffer): Promise<void>;
  resize(size: TerminalSize): void;
}

/** Receives output. Pipes pause until a returned promise settles; terminals do not. */
export type OutputListener = (stream: OutputStream, data: Buffer) => Promise<void> | undefined;

/** After the command exits, its streams are closed once silent for this long, in milliseconds. */
const LATE_OUTPUT_MS = 500;

/** Starts a command. Rejects with `invalid_request` or `operation_failed` if the system cannot start it. */
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
    // Its own process group, so that signals reach all of it and nothing else.
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
  // The command has closed its input or exited: the write itself reports it.
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
      // Processes that it left behind may hold its streams open forever; their output counts until they fall silent.
      const ends = child.stdio.filter((end) => end instanceof Socket);
      const received = (): number => ends.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
      let before = received();
      const silenceCheck = setInterval(() => {
        const now = received();
        const isSilent = now === before && child.stdout?.isPaused() !== true;
        before = now;
        if (isSilent) for (const end of ends) end.destroy();
      }, LATE_OUTPUT_MS);
      child.once('close', () => clearInterval(silenceCheck));
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
  // Without an encoding the terminal reads and writes bytes, despite the library's types.
  const input: { write(data: string | Buffer): void } = terminal;
  terminal.onData((data: string | Buffer) => onOutput('stdout', Buffer.from(data)));
  let exited = false;
  const ended = new Promise<number>((resolve) => {
    terminal.onExit(({ exitCode, signal }) => {
      exited = true;
      resolve(signal === undefined || signal === 0 ? exitCode : 128 + signal);
    });
  });
  return Promise.resolve({
    pid: terminal.pid,
    hasTerminal: true,
    ended,
    write: (data) => {
      if (exited) return Promise.reject(new Error('the terminal is closed'));
      input.write(data);
      return Promise.resolve();
    },
    resize: (size) => {
      if (!exited) terminal.resize(size.cols, size.rows);
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
