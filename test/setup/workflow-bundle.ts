import { readFile } from 'node:fs/promises';
import type { WorkflowBundleWithSourceMap } from '@temporalio/worker';
import { inject } from 'vitest';

/** The workflow code, as the set-up has bundled it once for all workers of a run. */
export async function workflowBundle(): Promise<WorkflowBundleWithSourceMap> {
  return { code: await readFile(inject('workflowBundleFile'), 'utf8'), sourceMap: '' };
}
