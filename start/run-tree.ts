import { utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ChildSpec } from './child-process.ts';
import { lockDataDir } from './data-lock.ts';
import type { DataLock } from './data-lock.ts';
import { checkPorts } from './processes.ts';
import type { NeededPort } from './processes.ts';
import { say } from './terminal.ts';
import { onStopRequest } from './supervision.ts';
import { createSupervisor } from './supervisor.ts';
import type { Supervisor } from './supervisor.ts';

const MARK_BUILD_EVERY_MS = 3_600_000;

/** A tree of processes to run. */
export interface Tree {
  /** Shown in the terminal: `Starting <name> ...`. */
  name: string;
  dataDir: string;
  ports: readonly NeededPort[];
  /** Installs missing programs, and returns the processes to run. */
  plan: () => Promise<ChildSpec[]>;
  /** Called once all processes run; returns the message to print. */
  ready: () => Promise<string>;
}

/**
 * Runs a tree until it is asked to stop. Locks the data folder meanwhile, and ends leftover processes of a killed start. If a
 * part cannot start, stops everything and rejects.
 */
export async function runTree(tree: Tree): Promise<void> {
  const held: { lock?: DataLock; supervisor?: Supervisor; stopping?: boolean } = {};

  const stop = async (how: string): Promise<void> => {
    if (held.stopping) {
      held.supervisor?.kill();
      process.exit(1);
    }
    held.stopping = true;
    // Without a supervisor nothing runs yet, and setup can be interrupted at any point.
    if (held.supervisor) say(`${how}: stopping ...`);
    await held.supervisor?.stop();
    await held.lock?.release();
    if (held.supervisor) say('Stopped.');
    process.exit(0);
  };
  onStopRequest((how) => void stop(how));

  try {
    const lock = (held.lock = await lockDataDir(tree.dataDir));
    await checkPorts(tree.ports);
    const specs = await tree.plan();
    const supervisor = (held.supervisor = createSupervisor(specs, {
      logDir: join(tree.dataDir, 'logs'),
      say,
      onSpawn: (name, pid) => lock.recordChild(name, pid),
      onReady: (name, tookMs) => {
        say(`  ${name} is ready (${(tookMs / 1000).toFixed(1)} s)`);
      },
    }));
    say(`Starting ${tree.name} ...`);
    await supervisor.start();
    const message = held.stopping ? '' : await tree.ready();
    if (held.stopping) return;
    say(message);
    markBuildUsed();
  } catch (error) {
    await held.supervisor?.stop();
    await held.lock?.release();
    throw error;
  }
}

/** Marks the running build as used: a new build removes builds that were not used for a day. */
function markBuildUsed(): void {
  const build = dirname(import.meta.dirname);
  const mark = (): void => void utimes(build, new Date(), new Date()).catch(() => undefined);
  setInterval(mark, MARK_BUILD_EVERY_MS).unref();
}
