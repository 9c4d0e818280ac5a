import type { TestProject } from 'vitest/node';
import { provideChromium, providePostgres, provideTemporal, provideTestServer } from './provision.ts';

/** Global set-up of the tier `soak`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideTemporal(project);
  await provideTestServer(project);
  await provideChromium(project);
  return providePostgres(project);
}
