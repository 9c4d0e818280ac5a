import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import { bundleWorkflows } from '../../workers/worker.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { PAYLOAD_KEY, startWorkflowTests, type WorkflowTests } from './environment.ts';
import {
  loginByCredential,
  loginByPerson,
  reauthThatIsRefused,
  reauthThatWorks,
  removedWhileWaiting,
} from './scenarios.ts';

const FOLDER = new URL('../histories/', import.meta.url).pathname;
const SCENARIOS = { loginByPerson, loginByCredential, reauthThatWorks, reauthThatIsRefused, removedWhileWaiting };

/**
 * Saved histories are what sleeping workflows of a deployment look like: code that cannot replay them would break those
 * workflows. A release adds its own by `RECORD_HISTORIES=<release>`; nobody edits one.
 */
describe('saved histories', () => {
  it('replay on the workflow code of today', async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json'));
    expect(files.length).toBeGreaterThanOrEqual(Object.keys(SCENARIOS).length);
    const workflowBundle = await bundleWorkflows();
    for (const file of files) {
      const saved: unknown = JSON.parse(await readFile(join(FOLDER, file), 'utf8'));
      await Worker.runReplayHistory(
        { workflowBundle, dataConverter: createDataConverter(PAYLOAD_KEY) },
        historyFromJSON(saved),
        workflowIdFrom(file),
      );
    }
  });
});

/** Saves a history of each scenario under the name of the release; only when asked to. */
function describeRecording(release: string): void {
  describe('recording', () => {
    let tests: WorkflowTests;

    beforeAll(async () => {
      tests = await startWorkflowTests();
    });

    afterAll(async () => {
      await tests.close();
    });

    it.each(Object.entries(SCENARIOS))('saves %s', async (name, scenario) => {
      tests.reset();
      const id = await scenario(tests);
      const workflowId = workflowIdOf(id);
      const history = await tests.env.client.workflow.getHandle(workflowId).fetchHistory();
      await mkdir(FOLDER, { recursive: true });
      const { historyToJSON } = await import('@temporalio/common/lib/proto-utils.js');
      const file = `${release}.${name}.${workflowId}.json`;
      await writeFile(join(FOLDER, file), historyToJSON(history));
    });
  });
}

const release = process.env['RECORD_HISTORIES'];
if (release !== undefined) describeRecording(release);

/** Payloads are bound to their workflow's id, so the file's name keeps it. */
function workflowIdFrom(file: string): string {
  return file.split('.').at(-2) ?? '';
}
