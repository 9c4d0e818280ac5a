import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { tierOf, type Tier } from './tiers.ts';

/** Mean duration of a file of each tier, in seconds. */
const SECONDS: Record<Tier, number> = { e2e: 49, browser: 13, temporal: 12, plain: 1, soak: 60 };
/** Tiers whose files mostly wait, and those that mostly compute, the slowest first. */
const LANES: Tier[][] = [
  ['e2e', 'temporal', 'soak'],
  ['browser', 'plain'],
];
/** The slowest files of each tier. On a fresh machine Vitest knows no durations, and sorts by file size. */
const LONG = [
  'kill-steps',
  'lifecycle',
  'health',
  'check-health',
  'providers',
  'apps',
  'on-the-page',
  'reauth-gate',
  'playwright-execute',
  'scopes',
  'openapi',
  'package',
];

/**
 * Sorts each lane by tier, {@link LONG} files first, and merges the lanes by their durations, so that at any time about as many files
 * wait as compute, and the shortest ones fill the gaps at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const timed = LANES.flatMap((tiers) => {
      const lane = tiers.flatMap((tier) =>
        sorted.filter(({ moduleId }) => tierOf(moduleId) === tier).toSorted(bySlowness),
      );
      let startsAt = 0;
      return lane.map((file) => {
        const entry = { file, startsAt };
        startsAt += SECONDS[tierOf(file.moduleId)];
        return entry;
      });
    });
    return timed.toSorted((one, other) => one.startsAt - other.startsAt).map(({ file }) => file);
  }
}

function bySlowness(one: TestSpecification, other: TestSpecification): number {
  return rank(one) - rank(other);
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONG.findIndex((part) => moduleId.includes(`/${part}.`));
  return found < 0 ? LONG.length : found;
}
