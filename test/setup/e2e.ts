import type { TestProject } from 'vitest/node';
import { provideChromium, inReverse, providePostgres, provideTemporal, provideWorkflowBundle } from './provision.ts';

/** Global setup of the tier `e2e`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideTemporal(project);
  await provideChromium(project);
  return inReverse([await providePostgres(project), await provideWorkflowBundle(project)]);
}
