import type { TestProject } from 'vitest/node';
import {
  provideChromium,
  inReverse,
  providePostgres,
  provideServicePrograms,
  provideTemporal,
  provideTestServer,
  provideWorkflowBundle,
} from './provision.ts';

/** Global setup of the tier `soak`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideTemporal(project);
  await provideTestServer(project);
  await provideChromium(project);
  return inReverse([
    await providePostgres(project),
    await provideWorkflowBundle(project),
    await provideServicePrograms(project),
  ]);
}
