import type { TestProject } from 'vitest/node';
import { providePostgres, provideTemporal, provideTestServer } from './provision.ts';

/** Global set-up of the tier `temporal`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideTemporal(project);
  await provideTestServer(project);
  return providePostgres(project);
}
