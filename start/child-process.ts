import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { killGroup } from './process-identity.ts';
import { lastLine } from './setup/command.ts';

/** One process of the tree. */
export interface ChildSpec {
  /** Names the log file and is what the person reads: `worker`. */
  name: string;
  program: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Folder to start in; ours when not given. */
  cwd?: string;
  /** Whom to start it as; us when not given. */
  uid?: number;
  gid?: number;
  /**
   * - `role`: ours. Says `ready` over its channel, stops when the channel closes.
   * - `foreign`: somebody else's program, ready when `probe` resolves to true, stopped by `stopSignal`.
   */
  kind: 'role' | 'foreign';
  probe?: () => Promise<boolean>;
  /** Awaited before each launch, the restarts included. */
  prepare?: () => Promise<void>;
  /** Ends a foreign program. Default `TERM`. */
  stopSignal?: 'TERM' | 'INT';
  /** Children of a later stage start when all of the earlier are ready, and stop before them. */
  stage: number;
  /** Milliseconds it may take to be ready. */
  readyWithinMs: number;
  /** Milliseconds it may take to stop before it is killed. */
  stopWithinMs: number;
}

/** A child that was started. */
export interface RunningChild {
  spec: ChildSpec;
  /** Leader of its process group; undefined when it could not be started at all. */
  pid: number | undefined;
  /** Resolves when it is ready; rejects with a {@link ChildFault} when it ends before, or takes too long. */
  ready: Promise<void>;
  /** Resolves, when it has ended and its whole group is gone, to how: `exit code 1`, `signal SIGKILL`. */
  ended: Promise<string>;
  /** Asks it to stop, kills it when it does not, and resolves when it has ended. */
  stop(onKill: () => void): Promise<void>;
}

/** Why a child is not ready, with the last words in its log. */
export class ChildFault extends Error {
  override readonly name = 'ChildFault';
}

const PROBE_EVERY_MS = 100;
const LOG_ROTATE_BYTES = 10_000_000;

/** Ends the program behind `"$@"` when our end of standard input closes, so that it does not outlive us. */
function guard(signal: string): string {
  return `exec 3<&0; "$@" </dev/null & p=$!; (read -r _ <&3; kill -${signal} $p) 2>/dev/null & wait $p`;
}

/** Starts a child in a process group of its own, its output appended to `<logDir>/<name>.log`. */
export async function startChild(spec: ChildSpec, logDir: string): Promise<RunningChild> {
  await spec.prepare?.();
  const log = await openLog(logDir, spec.name);
  const role = spec.kind === 'role';
  const child = spawn(
    role ? spec.program : '/bin/sh',
    role ? [...spec.args] : ['-c', guard(spec.stopSignal ?? 'TERM'), spec.name, spec.program, ...spec.args],
    {
      env: spec.env,
      cwd: spec.cwd,
      uid: spec.uid,
      gid: spec.gid,
      // A group of its own: Ctrl-C on the terminal reaches the supervisor alone, which then stops all in order.
      detached: true,
      stdio: role ? ['ignore', log.handle.fd, log.handle.fd, 'ipc'] : ['pipe', log.handle.fd, log.handle.fd],
    },
  );
  await log.handle.close();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      // Whatever it has started itself goes with it.
      if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
      resolve(signal === null ? `exit code ${code ?? '?'}` : `signal ${signal}`);
    });
  });
  const ready = untilReady(spec, child, ended).catch(async (error: unknown) => {
    const words = lastLine((await readFile(log.file, 'utf8').catch(() => '')).slice(log.start));
    const why = error instanceof Error ? error.message : 'failed';
    throw new ChildFault(`${spec.name} ${why}; its log ends with: ${words.replace(/^holdfast: /, '')} (${log.file})`);
  });
  ready.catch(() => undefined);
  return {
    spec,
    pid: child.pid,
    ready,
    ended,
    async stop(onKill) {
      if (!role) child.stdin?.end();
      else if (child.connected) child.disconnect();
      const timer = setTimeout(() => {
        onKill();
        if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
      }, spec.stopWithinMs);
      await ended;
      clearTimeout(timer);
    },
  };
}

async function untilReady(spec: ChildSpec, child: ChildProcess, ended: Promise<string>): Promise<void> {
  const limit = new AbortController();
  const timeout = new Promise<never>((_resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`was not ready within ${spec.readyWithinMs / 1000} s`));
    }, spec.readyWithinMs);
    limit.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  const death = ended.then((how) => {
    throw new Error(`ended (${how})`);
  });
  try {
    await Promise.race([spec.kind === 'role' ? saysReady(child) : probed(spec, limit.signal), timeout, death]);
  } finally {
    limit.abort();
  }
}

function saysReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve();
    });
  });
}

async function probed(spec: ChildSpec, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!spec.probe || (await spec.probe().catch(() => false))) return;
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}

/** Logs are appended to; one that has grown large is put aside when its process starts. `start` is where ours begins. */
async function openLog(folder: string, name: string) {
  const file = join(folder, `${name}.log`);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_ROTATE_BYTES) await rename(file, `${file}.1`);
  return { file, start: size > LOG_ROTATE_BYTES ? 0 : size, handle: await open(file, 'a', 0o600) };
}
