import type { TestProject } from 'vitest/node';
import {
  provideChromium,
  providePostgres,
  provideServicePrograms,
  provideTemporal,
  provideTestServer,
  provideWorkflowBundle,
  type Teardown,
} from './provision.ts';
import { tierOf, type Tier } from './tiers.ts';

type Provision = (project: TestProject, teardowns: Teardown[]) => Promise<void>;

const BROWSER: Provision[] = [provideChromium, provideServicePrograms];
const TEMPORAL: Provision[] = [provideTemporal, provideTestServer, provideWorkflowBundle];
/** What each tier needs beside Postgres. */
const NEEDS: Record<Tier, Provision[]> = {
  plain: [],
  temporal: TEMPORAL,
  browser: BROWSER,
  e2e: [...TEMPORAL, ...BROWSER],
  soak: [...TEMPORAL, ...BROWSER],
};

/** Global setup: starts what the tiers of the selected files need. */
export default async function setup(project: TestProject): Promise<Teardown> {
  const files = project.vitest.state.getPaths();
  const needs = new Set([providePostgres, ...files.flatMap((file) => NEEDS[tierOf(file)])]);
  const teardowns: Teardown[] = [];
  for (const provide of needs) await provide(project, teardowns);
  return async () => {
    for (const end of teardowns.toReversed()) await end();
  };
}
