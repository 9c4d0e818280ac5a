import type { TestProject } from 'vitest/node';
import { inReverse, provideChromium, providePostgres, provideServicePrograms } from './provision.ts';

/** Global setup of the tier `browser`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideChromium(project);
  return inReverse([await providePostgres(project), await provideServicePrograms(project)]);
}
