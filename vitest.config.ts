import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/setup/longest-first.ts';

/** Most that a test or a hook may take: only a hang takes it, even on a machine that does much else. */
const HANG_MS = 240_000;
/** One more than there are cores: files wait for a third of their time. With two more a run takes no less. */
const FILES_SIDE_BY_SIDE = Math.min(6, availableParallelism() + 1);

/**
 * Tests are told apart by suffix: what a file needs is in its name, and the set-up brings it up. The files of all tiers are
 * one queue, those that take longest first, in workers that keep what they have loaded and started for the next file.
 * `soak` is no part of `npm test`: the same walks as in the other tiers, hundreds of times.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [tier('e2e'), tier('browser'), tier('temporal'), tier('plain'), tier('soak', { alone: true })],
  },
});

type Tier = 'plain' | 'temporal' | 'browser' | 'e2e' | 'soak';

function tier(name: Tier, { alone = false } = {}) {
  const plain = name === 'plain';
  return {
    test: {
      name,
      include: [plain ? 'test/**/*.test.ts' : `test/**/*.${name}.test.ts`],
      exclude: ['**/node_modules/**', ...(plain ? ['test/**/*.{temporal,browser,e2e,soak}.test.ts'] : [])],
      setupFiles: plain ? ['test/setup/declared-answers.ts'] : [],
      globalSetup: [`test/setup/${name}.ts`],
      pool: 'forks' as const,
      isolate: false,
      maxWorkers: alone ? 1 : FILES_SIDE_BY_SIDE,
      unstubEnvs: true,
      restoreMocks: true,
      expect: { poll: { timeout: 0.75 * HANG_MS } },
      testTimeout: HANG_MS,
      hookTimeout: HANG_MS,
      teardownTimeout: 60_000,
      sequence: { groupOrder: alone ? 1 : 0 },
    },
  };
}
