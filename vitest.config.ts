import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/setup/longest-first.ts';

/** Most that a test or a hook may take: only a hang takes it, even on a machine that does much else. */
const HANG_MS = 240_000;
/** Two more than there are cores, because files wait for a part of their time; with one more a tenth of the cores' time is idle. */
const FILES_SIDE_BY_SIDE = Math.min(6, availableParallelism() + 2);

/**
 * The files of all tiers are one project and one queue: Vitest reuses a worker, with what it has loaded and started, only for
 * files of the same project. `soak` is no part of `npm test`: the same walks as in the other tiers, hundreds of times.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      project('suite', { include: ['test/**/*.test.ts'], exclude: ['**/node_modules/**', 'test/**/*.soak.test.ts'] }),
      project('soak', { include: ['test/**/*.soak.test.ts'], maxWorkers: 1, sequence: { groupOrder: 1 } }),
    ],
  },
});

function project<Options extends object>(name: string, options: Options) {
  return {
    test: {
      name,
      setupFiles: ['test/setup/declared-answers.ts'],
      globalSetup: ['test/setup/global.ts'],
      pool: 'forks' as const,
      isolate: false,
      maxWorkers: FILES_SIDE_BY_SIDE,
      unstubEnvs: true,
      restoreMocks: true,
      expect: { poll: { timeout: 0.75 * HANG_MS } },
      testTimeout: HANG_MS,
      hookTimeout: HANG_MS,
      teardownTimeout: 60_000,
      ...options,
    },
  };
}
