import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take minutes, most of them in waiting: what begins last should end soon. Vitest by itself knows no times on a
 * fresh machine, and goes by the size of files.
 */
const LONG = ['kill-steps', 'canary-data', 'npm-start', 'kinds', 'health', 'isolation', 'pages', 'store/', 'lifecycle'];

/** Begins with the {@link LONG} files of a tier; the others follow in the order of Vitest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const found = LONG.findIndex((part) => moduleId.includes(`${part}.`) || moduleId.includes(`/${part}`));
  return found < 0 ? LONG.length : found;
}
