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

/** What each tier needs beside Postgres. */
const NEEDS: Record<Tier, Provision[]> = {
  plain: [],
  temporal: [provideTemporal, provideTestServer, provideWorkflowBundle],
  browser: [provideChromium, provideServicePrograms],
  e2e: [provideTemporal, provideChromium, provideWorkflowBundle],
  soak: [provideTemporal, provideTestServer, provideChromium, provideWorkflowBundle, provideServicePrograms],
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
