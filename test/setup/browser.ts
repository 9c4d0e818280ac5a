import type { TestProject } from 'vitest/node';
import { provideChromium, providePostgres } from './provision.ts';

/** Global set-up of the tier `browser`. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await provideChromium(project);
  return providePostgres(project);
}
