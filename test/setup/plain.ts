import type { TestProject } from 'vitest/node';
import { providePostgres } from './provision.ts';

/** Global setup of the tier `plain`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return providePostgres(project);
}
