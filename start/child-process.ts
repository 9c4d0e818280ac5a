import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { killGroup } from './process-identity.ts';
import { lastLine } from './setup/command.ts';

/** One process of the tree. */
export interface ChildSpec {
  /** The name of the process and its log file: `worker`. */
  name: string;
  program: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Working directory; defaults to ours. */
  cwd?: string;
  /** The user to run as; defaults to the current one. */
  uid?: number;
  gid?: number;
  /**
   * - `role`: our own process. Sends `ready` over its channel, and stops when the channel closes.
   * - `foreign`: a third-party program. Ready once `probe` resolves to true, stopped with `stopSignal`.
   */
  kind: 'role' | 'foreign';
  probe?: () => Promise<boolean>;
  /** Awaited before every launch, including restarts. */
  prepare?: () => Promise<void>;
  /** Stops a foreign program. Default `TERM`. */
  stopSignal?: 'TERM' | 'INT';
  /** Children of a later stage start once the earlier stages are ready, and stop before them. */
  stage: number;
  /** Time limit to be ready, in milliseconds. */
  readyWithinMs: number;
  /** Time limit to stop before it is killed, in milliseconds. */
  stopWithinMs: number;
}

/** A started child. */
export interface RunningChild {
  spec: ChildSpec;
  /** Leader of its process group; undefined if it could not be started. */
  pid: number | undefined;
  /** Resolves once it is ready. Rejects with a {@link ChildError} if it exits before, or takes too long. */
  ready: Promise<void>;
  /** Resolves once it has exited and its process group is killed, to how it ended: `exit code 1`, `signal SIGKILL`. */
  ended: Promise<string>;
  /** Asks it to stop, kills it if it does not, and resolves once it has exited. */
  stop(onKill: () => void): Promise<void>;
}

/** Why a child is not ready, with the last line of its log. */
export class ChildError extends Error {
  override readonly name = 'ChildError';
}

const PROBE_EVERY_MS = 100;
const LOG_ROTATE_BYTES = 10_000_000;

/** A shell script that runs `"$@"` and stops it when our end of standard input closes, so that it does not outlive us. */
function guardScript(signal: string): string {
  return `exec 3<&0; "$@" </dev/null & p=$!; (read -r _ <&3; kill -${signal} $p) 2>/dev/null & wait $p`;
}

/** Starts a child in its own process group, and appends its output to `<logDir>/<name>.log`. */
export async function startChild(spec: ChildSpec, logDir: string): Promise<RunningChild> {
  await spec.prepare?.();
  const log = await openLog(logDir, spec.name);
  const role = spec.kind === 'role';
  const child = spawn(
    role ? spec.program : '/bin/sh',
    role ? [...spec.args] : ['-c', guardScript(spec.stopSignal ?? 'TERM'), spec.name, spec.program, ...spec.args],
    {
      env: spec.env,
      cwd: spec.cwd,
      uid: spec.uid,
      gid: spec.gid,
      // Its own group, so that Ctrl-C reaches only the supervisor, which then stops all in order.
      detached: true,
      stdio: role ? ['ignore', log.handle.fd, log.handle.fd, 'ipc'] : ['pipe', log.handle.fd, log.handle.fd],
    },
  );
  await log.handle.close();
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      // Kills everything that it has started.
      if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
      resolve(signal === null ? `exit code ${code ?? '?'}` : `signal ${signal}`);
    });
  });
  const ready = waitUntilReady(spec, child, ended).catch(async (error: unknown) => {
    const logEnd = lastLine((await readFile(log.file, 'utf8').catch(() => '')).slice(log.start));
    const why = error instanceof Error ? error.message : 'failed';
    throw new ChildError(`${spec.name} ${why}; its log ends with: ${logEnd.replace(/^holdfast: /, '')} (${log.file})`);
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

async function waitUntilReady(spec: ChildSpec, child: ChildProcess, ended: Promise<string>): Promise<void> {
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
    await Promise.race([
      spec.kind === 'role' ? waitForReadyMessage(child) : waitForProbe(spec, limit.signal),
      timeout,
      death,
    ]);
  } finally {
    limit.abort();
  }
}

function waitForReadyMessage(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message) => {
      if (message === 'ready') resolve();
    });
  });
}

async function waitForProbe(spec: ChildSpec, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if (!spec.probe || (await spec.probe().catch(() => false))) return;
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}

/** Opens a log for appending, and rotates a large one. `start` is the offset of the new output. */
async function openLog(folder: string, name: string) {
  const file = join(folder, `${name}.log`);
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > LOG_ROTATE_BYTES) await rename(file, `${file}.1`);
  return { file, start: size > LOG_ROTATE_BYTES ? 0 : size, handle: await open(file, 'a', 0o600) };
}
