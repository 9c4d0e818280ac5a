import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ChildError, startChild } from './child-process.ts';
import type { ChildSpec, RunningChild } from './child-process.ts';
import { killGroup } from './process-identity.ts';
import { SetupError } from './setup/setup-error.ts';

/** Options of {@link createSupervisor}. */
interface SupervisorOptions {
  logDir: string;
  /** Prints a line to the terminal. */
  say: (line: string) => void;
  /** Called with each process id, leader of its own process group. */
  onSpawn?: (name: string, pid: number) => Promise<void>;
  /** Called when a child is first ready, with the milliseconds since its start. */
  onReady?: (name: string, tookMs: number) => void;
  /** Initial pause before a restart, in milliseconds; doubled up to five times. */
  backoffMs?: number;
}

/** Runs a set of processes. */
export interface Supervisor {
  /** Resolves once all are ready. If one cannot start, stops the others and rejects with a {@link SetupError}. */
  start(): Promise<void>;
  /** Stops all, last stage first. Idempotent, even during the start. */
  stop(): Promise<void>;
  /** Kills all at once. */
  kill(): void;
  /** Process ids of running children, by name. */
  pids(): Record<string, number>;
}

/** A child that ran this long restarts after the initial pause again. */
const STABLE_AFTER_MS = 20_000;
const MAX_DOUBLINGS = 5;

/** Supervises `specs`. Once all were ready, a child that exits is restarted after a growing pause. */
export function createSupervisor(specs: readonly ChildSpec[], options: SupervisorOptions): Supervisor {
  const running = new Map<string, RunningChild>();
  const pauses = new Set<NodeJS.Timeout>();
  const stages = [...new Set(specs.map((spec) => spec.stage))].sort((a, b) => a - b);
  let allReady = false;
  let stopped: Promise<void> | undefined;

  async function launch(spec: ChildSpec, failures: number): Promise<RunningChild> {
    const child = await startChild(spec, options.logDir);
    running.set(spec.name, child);
    const began = Date.now();
    void child.ended.then((how) => {
      if (running.get(spec.name) === child) running.delete(spec.name);
      if (allReady && !stopped) restart(spec, how, Date.now() - began > STABLE_AFTER_MS ? 0 : failures);
    });
    if (child.pid !== undefined) await options.onSpawn?.(spec.name, child.pid);
    return child;
  }

  function restart(spec: ChildSpec, how: string, failures: number): void {
    const pause = (options.backoffMs ?? 500) * 2 ** Math.min(failures, MAX_DOUBLINGS);
    const log = join(options.logDir, `${spec.name}.log`);
    options.say(`${spec.name} ended (${how}); starting it again in ${pause / 1000} s (log: ${log})`);
    const timer = setTimeout(() => {
      pauses.delete(timer);
      if (!stopped) void relaunch(spec, failures + 1);
    }, pause);
    pauses.add(timer);
  }

  async function relaunch(spec: ChildSpec, failures: number): Promise<void> {
    let child: RunningChild | undefined;
    try {
      child = await launch(spec, failures);
      await child.ready;
      options.say(`${spec.name} is ready again`);
    } catch (error) {
      // A child that is not ready in time is killed, which leads to restart(); one that was never launched (a full disk,
      // for example) has no exit to wait for.
      if (child?.pid !== undefined) killGroup(child.pid, 'SIGKILL');
      if (!child) restart(spec, error instanceof Error ? error.message : 'could not be launched', failures);
    }
  }

  async function startAll(): Promise<void> {
    for (const stage of stages) {
      if (stopped) return;
      const began = Date.now();
      const children = await Promise.all(specs.filter((spec) => spec.stage === stage).map((spec) => launch(spec, 0)));
      await Promise.all(
        children.map(async (child) => {
          await child.ready;
          options.onReady?.(child.spec.name, Date.now() - began);
        }),
      );
    }
    allReady = true;
  }

  async function stopAll(): Promise<void> {
    for (const timer of pauses) clearTimeout(timer);
    for (const stage of [...stages].reverse()) {
      const last = [...running.values()].filter((child) => child.spec.stage === stage);
      await Promise.all(
        last.map((child) => child.stop(() => options.say(`${child.spec.name} does not stop; killing it`))),
      );
    }
  }

  const stop = (): Promise<void> => (stopped ??= stopAll());

  return {
    async start() {
      await mkdir(options.logDir, { recursive: true, mode: 0o700 });
      try {
        await startAll();
      } catch (error) {
        if (stopped) return;
        await stop();
        if (error instanceof ChildError) throw new SetupError(`Cannot start: ${error.message}`);
        throw error;
      }
    },
    stop,
    kill() {
      stopped ??= Promise.resolve();
      for (const child of running.values()) if (child.pid !== undefined) killGroup(child.pid, 'SIGKILL');
    },
    pids() {
      return Object.fromEntries([...running.values()].map((child) => [child.spec.name, child.pid ?? 0]));
    },
  };
}
