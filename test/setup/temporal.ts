import type { TestProject } from 'vitest/node';
import { inReverse, providePostgres, provideTemporal, provideTestServer, provideWorkflowBundle } from './provision.ts';

/** Global setup of the tier `temporal`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideTemporal(project);
  await provideTestServer(project);
  return inReverse([await providePostgres(project), await provideWorkflowBundle(project)]);
}
