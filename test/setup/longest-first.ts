import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tiers in the order of how long their files take, so that the shortest ones fill what is left at the end. */
const TIERS = ['e2e', 'browser', 'temporal', 'plain', 'soak'];
/** Files of a tier that take longest. Vitest by itself knows no times on a fresh machine, and goes by the size of files. */
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

/** Tier by tier, each beginning with its {@link LONG} files; the others follow in the order of Vitest. */
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
