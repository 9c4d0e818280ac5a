import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {} from 'vitest';
import type { TestProject } from 'vitest/node';
import { inspectChromium } from '../../browser/chromium/binary.ts';
import { findChromium } from '../../start/setup/chromium.ts';
import { findTemporalCli } from '../../start/setup/temporal.ts';
import { findHeadlessShell } from './headless-shell.ts';
import { findTestServer } from './test-server.ts';
import { startTestPostgres } from './postgres.ts';
import { compileServicePrograms } from './service-programs.ts';

declare module 'vitest' {
  /** Values that the setup provides to tests: `inject('chromiumPath')` and so on. */
  export interface ProvidedContext {
    /** The `temporal` program (dev server). In the tiers temporal and e2e. */
    temporalPath: string;
    /** The time-skipping test server. In the tier temporal. */
    testServerPath: string;
    /** A Chromium. In the tiers browser and e2e. */
    chromiumPath: string;
    /** The browser for viewing pages, see `launchViewer`. In the tiers browser and e2e. */
    viewerPath: string;
    /** Path of the bundled workflow code: bundling takes seconds of processor time. In the tiers temporal and e2e. */
    workflowBundleFile: string;
    /** Folder of the compiled programs that are browser services. In the tiers browser and soak. */
    servicePrograms: string;
    /** Superuser URL of a running Postgres. In every tier. */
    postgresUrl: string;
  }
}

/** One Postgres for the whole run: the setups of the tiers share a process, but not their modules. */
const POSTGRES_VARIABLE = 'HOLDFAST_TEST_POSTGRES_URL';
/** The same for the workflows' bundle. */
const BUNDLE_VARIABLE = 'HOLDFAST_TEST_WORKFLOW_BUNDLE';

/** Provides `postgresUrl`; returns the teardown. */
export async function providePostgres(project: TestProject): Promise<() => Promise<void>> {
  const running = process.env[POSTGRES_VARIABLE];
  if (running !== undefined) {
    project.provide('postgresUrl', running);
    return () => Promise.resolve();
  }
  const server = await startTestPostgres();
  process.env[POSTGRES_VARIABLE] = server.url;
  project.provide('postgresUrl', server.url);
  return async () => {
    Reflect.deleteProperty(process.env, POSTGRES_VARIABLE);
    await server.stop();
  };
}

/** Provides `workflowBundleFile`; returns the teardown. */
export async function provideWorkflowBundle(project: TestProject): Promise<() => Promise<void>> {
  const written = process.env[BUNDLE_VARIABLE];
  if (written !== undefined) {
    project.provide('workflowBundleFile', written);
    return () => Promise.resolve();
  }
  const { bundleWorkflows } = await import('../../workers/worker.ts');
  const { code } = await bundleWorkflows();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-workflows-'));
  const file = join(folder, 'bundle.js');
  await writeFile(file, code);
  process.env[BUNDLE_VARIABLE] = file;
  project.provide('workflowBundleFile', file);
  return async () => {
    Reflect.deleteProperty(process.env, BUNDLE_VARIABLE);
    await rm(folder, { recursive: true, force: true });
  };
}

/** Provides `servicePrograms`; returns the teardown. */
export async function provideServicePrograms(project: TestProject): Promise<() => Promise<void>> {
  const { folder, remove } = await compileServicePrograms();
  project.provide('servicePrograms', folder);
  return remove;
}

/** Combines teardowns, in reverse order of setup. */
export function inReverse(ends: (() => Promise<void>)[]): () => Promise<void> {
  return async () => {
    for (const end of ends.toReversed()) await end();
  };
}

/** Provides `temporalPath`. */
export async function provideTemporal(project: TestProject): Promise<void> {
  project.provide('temporalPath', await findTemporalCli());
}

/** Provides `testServerPath`. */
export async function provideTestServer(project: TestProject): Promise<void> {
  project.provide('testServerPath', await findTestServer());
}

/** Provides `chromiumPath` and `viewerPath`. It is the Chromium binary itself, because a distribution's script may enable the GPU. */
export async function provideChromium(project: TestProject): Promise<void> {
  const { path, version } = await inspectChromium(await findChromium());
  project.provide('chromiumPath', path);
  project.provide('viewerPath', (await findHeadlessShell(version)) ?? path);
}
