import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/setup/longest-first.ts';

/** Most that a test or a hook may take: only a hang takes it, even on a machine that does much else. */
const HANG_MS = 240_000;
/** A browser wants a core for itself, and a page that is kept waiting for one is no page as people see it. */
const BROWSERS_SIDE_BY_SIDE = 2;

/**
 * Tests are told apart by suffix: what a file needs is in its name, and the set-up brings it up. Tiers run one after the
 * other, the files of a tier side by side in workers that keep what they have loaded and started for the next file.
 * `soak` is no part of `npm test`: the same walks as in the tiers before it, hundreds of times.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      tier('plain', { order: 0, workers: availableParallelism() }),
      tier('temporal', { order: 1, workers: BROWSERS_SIDE_BY_SIDE }),
      tier('browser', { order: 2, workers: BROWSERS_SIDE_BY_SIDE }),
      tier('e2e', { order: 3, workers: BROWSERS_SIDE_BY_SIDE }),
      tier('soak', { order: 4, workers: 1 }),
    ],
  },
});

type Tier = 'plain' | 'temporal' | 'browser' | 'e2e' | 'soak';

function tier(name: Tier, { order, workers }: { order: number; workers: number }) {
  const plain = name === 'plain';
  return {
    test: {
      name,
      include: [plain ? 'test/**/*.test.ts' : `test/**/*.${name}.test.ts`],
      exclude: ['**/node_modules/**', ...(plain ? ['test/**/*.{temporal,browser,e2e,soak}.test.ts'] : [])],
      globalSetup: [`test/setup/${name}.ts`],
      pool: 'forks' as const,
      isolate: false,
      maxWorkers: workers,
      unstubEnvs: true,
      restoreMocks: true,
      expect: { poll: { timeout: HANG_MS / 4 } },
      testTimeout: HANG_MS,
      hookTimeout: HANG_MS,
      teardownTimeout: 60_000,
      sequence: { groupOrder: order },
    },
  };
}
