import { join } from 'node:path';
import type { ChildSpec } from './child-process.ts';
import { lockDataDir } from './data-lock.ts';
import type { DataLock } from './data-lock.ts';
import { checkPorts } from './ports.ts';
import type { NeededPort } from './ports.ts';
import { say } from './say.ts';
import { onStopRequest } from './stop-request.ts';
import { createSupervisor } from './supervisor.ts';
import type { Supervisor } from './supervisor.ts';

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
    const began = Date.now();
    const supervisor = (held.supervisor = createSupervisor(specs, {
      logDir: join(tree.dataDir, 'logs'),
      say,
      onSpawn: (name, pid) => lock.noteChild(name, pid),
      onReady: (name) => {
        say(`  ${name} is ready (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      },
    }));
    say(`Starting ${tree.name} ...`);
    await supervisor.start();
    const told = held.stopping ? '' : await tree.ready();
    if (!held.stopping) say(told);
  } catch (error) {
    await held.supervisor?.stop();
    await held.lock?.release();
    throw error;
  }
}
