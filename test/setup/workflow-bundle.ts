import { readFile } from 'node:fs/promises';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { inject } from 'vitest';

/** The workflow code, bundled once per run by the global setup. */
export async function workflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  return { code: await readFile(inject('workflowBundleFile'), 'utf8'), sourceMap: '' };
}
