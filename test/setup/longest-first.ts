import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tiers by duration of their files, longest first, so that the shortest fill the gaps at the end. */
const TIERS = ['e2e', 'browser', 'temporal', 'plain', 'soak'];
/** The slowest files of each tier. On a fresh machine Vitest knows no durations, and sorts by file size. */
const LONG = [
  'kill-steps',
  'lifecycle',
  'health',
  'providers',
  'apps',
  'on-the-page',
  'reauth-gate',
  'playwright-execute',
  'scopes',
  'openapi',
  'package',
];

/** Sorts by tier, {@link LONG} files first, then in the order of Vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const found = LONG.findIndex((part) => moduleId.includes(`/${part}.`));
  return TIERS.indexOf(project.name) * (LONG.length + 1) + (found < 0 ? LONG.length : found);
}
