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
    /** The browser for viewing pages, see `openViewer`. In the tiers browser and e2e. */
    viewerPath: string;
    /** Path of the bundled workflow code: bundling takes seconds of processor time. In the tiers temporal and e2e. */
    workflowBundleFile: string;
    /** Folder of the compiled programs that are browser services. In the tiers browser and soak. */
    servicePrograms: string;
    /** Superuser URL of a running Postgres. In every tier. */
    postgresUrl: string;
  }
}

/** Ends what a set-up has started. */
export type Teardown = () => Promise<void>;

/** Provides `postgresUrl`. */
export async function providePostgres(project: TestProject, teardowns: Teardown[]): Promise<void> {
  const server = await startTestPostgres();
  teardowns.push(() => server.stop());
  project.provide('postgresUrl', server.url);
}

/** Provides `workflowBundleFile`. */
export async function provideWorkflowBundle(project: TestProject, teardowns: Teardown[]): Promise<void> {
  const { bundleWorkflows } = await import('../../workers/worker.ts');
  const { code } = await bundleWorkflows();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-workflows-'));
  teardowns.push(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'bundle.js');
  await writeFile(file, code);
  project.provide('workflowBundleFile', file);
}

/** Provides `servicePrograms`. */
export async function provideServicePrograms(project: TestProject, teardowns: Teardown[]): Promise<void> {
  const { folder, remove } = await compileServicePrograms();
  teardowns.push(remove);
  project.provide('servicePrograms', folder);
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
