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

const BUILD_USED_EVERY_MS = 3_600_000;

/** A set of processes that this one runs and watches over. */
export interface Tree {
  /** What the person reads that is being started. */
  name: string;
  dataDir: string;
  ports: readonly NeededPort[];
  /** Sets up what is missing, and says what is to run. */
  plan: () => Promise<ChildSpec[]>;
  /** Called when all run; answers what the person is told then. */
  ready: () => Promise<string>;
}

/**
 * Runs a tree until a person ends it. Holds the data folder meanwhile, so that nobody else works in it, and ends what a
 * start that was killed has left there. Rejects, with all of it stopped, when a part cannot start.
 */
export async function runTree(tree: Tree): Promise<void> {
  const held: { lock?: DataLock; supervisor?: Supervisor; stopping?: boolean } = {};

  const stop = async (how: string): Promise<void> => {
    if (held.stopping) {
      held.supervisor?.kill();
      process.exit(1);
    }
    held.stopping = true;
    // Nothing runs yet: the set-up may be broken off at any point.
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
      onSpawn: (name, pid) => lock.noteChild(name, pid),
      onReady: (name, tookMs) => {
        say(`  ${name} is ready (${(tookMs / 1000).toFixed(1)} s)`);
      },
    }));
    say(`Starting ${tree.name} ...`);
    await supervisor.start();
    const told = held.stopping ? '' : await tree.ready();
    if (held.stopping) return;
    say(told);
    keepBuild();
  } catch (error) {
    await held.supervisor?.stop();
    await held.lock?.release();
    throw error;
  }
}

/** Marks the build that this tree runs from as used, for what nobody has used for a day is removed by the next build. */
function keepBuild(): void {
  const build = dirname(import.meta.dirname);
  const mark = (): void => void utimes(build, new Date(), new Date()).catch(() => undefined);
  setInterval(mark, BUILD_USED_EVERY_MS).unref();
}
