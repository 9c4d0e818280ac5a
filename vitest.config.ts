import { defineConfig } from 'vitest/config';

/**
 * Tests are told apart by suffix: what a file needs is in its name, and the set-up brings it up.
 * Files of the plain tier run side by side; the others hold servers or browsers and run one after the other.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'plain',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.{temporal,browser,e2e}.test.ts', '**/node_modules/**'],
          globalSetup: ['test/setup/plain.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      tier('temporal', { order: 1, timeout: 120_000 }),
      tier('browser', { order: 2, timeout: 120_000 }),
      tier('e2e', { order: 3, timeout: 240_000 }),
    ],
  },
});

function tier(name: 'temporal' | 'browser' | 'e2e', options: { order: number; timeout: number }) {
  return {
    test: {
      name,
      include: [`test/**/*.${name}.test.ts`],
      globalSetup: [`test/setup/${name}.ts`],
      pool: 'forks' as const,
      fileParallelism: false,
      maxWorkers: 1,
      testTimeout: options.timeout,
      hookTimeout: options.timeout,
      teardownTimeout: 20_000,
      sequence: { groupOrder: options.order },
    },
  };
}
