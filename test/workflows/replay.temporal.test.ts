import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createAuditExportsClient } from '../../client/delivery-clients.ts';
import { createAppsClient } from '../../client/apps-client.ts';
import { workflowIdOf } from '../../client/identity.ts';
import { workflowBundle } from '../setup/workflow-bundle.ts';
import { createDataConverter } from '../../workers/data-converter/data-converter.ts';
import { PAYLOAD_KEY, startWorkflowTests, type WorkflowTests } from './environment.ts';
import { createExportWorld, exportUntilDeleted } from './export-scenarios.ts';
import * as appScenarios from './app-scenarios.ts';
import * as scenarios from './scenarios.ts';

const FOLDER = new URL('../histories/', import.meta.url).pathname;
const SCENARIOS = {
  loginOnOnePage: scenarios.loginByCredential,
  loginInTwoSteps: scenarios.loginInTwoSteps,
  loginByChoice: scenarios.loginByChoice,
  loginWithCode: scenarios.loginByPerson,
  loginByMailedLink: scenarios.loginByMailedLink,
  loginDoneElsewhere: scenarios.loginDoneElsewhere,
  loginWithLostSession: scenarios.loginWithLostSession,
  reauthThatWorks: scenarios.reauthThatWorks,
  reauthThatIsRefused: scenarios.reauthThatIsRefused,
  removedWhileWaiting: scenarios.removedWhileWaiting,
  continuedAsNew: scenarios.continuedAsNew,
  checkedQuickly: scenarios.checkedQuickly,
  checkedOnTime: scenarios.checkedOnTime,
  watchedSession: scenarios.watchedSession,
};

/** Workflows of users' programs, by the results of their activities. */
const APP_SCENARIOS = {
  deploymentThatWorks: appScenarios.deploymentThatWorks,
  deploymentThatFails: appScenarios.deploymentThatFails,
  invocationThatWorks: appScenarios.invocationThatWorks,
  invocationWithRetries: appScenarios.invocationWithRetries,
  invocationThatIsCanceled: appScenarios.invocationThatIsCanceled,
  invocationOutOfTime: appScenarios.invocationOutOfTime,
};

/** The workflow of an export destination. */
const EXPORT_SCENARIO = 'exportUntilDeleted';

/** Every run of every workflow of a scenario, with the workflow id that its payloads are bound to. */
const SavedRuns = z.array(z.object({ workflowId: z.string(), history: z.unknown() }));

/**
 * Saved histories represent the sleeping workflows of a deployment, which code that cannot replay them would break. A release
 * adds its own by `RECORD_HISTORIES=<release>`; they are never edited.
 */
describe('saved histories', () => {
  it('replay on the current workflow code', async () => {
    const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json'));
    for (const name of [...Object.keys(SCENARIOS), ...Object.keys(APP_SCENARIOS), EXPORT_SCENARIO])
      expect(files.filter((file) => file.includes(`.${name}.`))).not.toEqual([]);
    const options = { workflowBundle: await workflowBundle(), dataConverter: createDataConverter(PAYLOAD_KEY) };
    const saved = (await Promise.all(files.map(runsIn))).flat();
    let replayed = 0;
    for await (const { workflowId, error } of Worker.runReplayHistories(options, saved)) {
      if (error !== undefined) throw new Error(`${workflowId} does not replay`, { cause: error });
      replayed += 1;
    }
    expect(replayed).toBe(saved.length);
  });
});

async function runsIn(file: string) {
  const runs = SavedRuns.parse(JSON.parse(await readFile(join(FOLDER, file), 'utf8')));
  return runs.map(({ workflowId, history }) => ({ workflowId, history: historyFromJSON(history) }));
}

/** Saves the histories of each scenario under the name of the release, if requested. */
function describeRecording(release: string): void {
  describe('recording', () => {
    let tests: WorkflowTests;

    const world = appScenarios.createAppWorld();
    const exportWorld = createExportWorld();

    beforeAll(async () => {
      tests = await startWorkflowTests('time-skipping', {}, undefined, world.apps, exportWorld.exports);
    });

    afterAll(async () => {
      world.finish();
      await tests.close();
    });

    it.each(Object.entries(SCENARIOS))('saves %s', async (name, scenario) => {
      tests.reset();
      const id = await scenario(tests);
      const flows = [...tests.world.timeline.values()].filter(({ type }) => type !== 'health_check');
      const workflowIds = [workflowIdOf(id), ...flows.map((event) => event.id.slice('evt_'.length))];
      const runs = (await Promise.all(workflowIds.map((workflowId) => runsOf(tests, workflowId)))).flat();
      await tests.removeAll();
      await save(name, runs);
    });

    it.each(Object.entries(APP_SCENARIOS))('saves %s', async (name, scenario) => {
      const client = createAppsClient({ temporal: tests.env.client, taskQueue: 'test' });
      await save(name, await runsOf(tests, await scenario(tests, client, world)));
    });

    it(`saves ${EXPORT_SCENARIO}`, async () => {
      const client = createAuditExportsClient({ temporal: tests.env.client, taskQueue: 'test' });
      await save(EXPORT_SCENARIO, await runsOf(tests, await exportUntilDeleted(tests, client, exportWorld)));
    });

    async function save(name: string, runs: z.infer<typeof SavedRuns>): Promise<void> {
      await mkdir(FOLDER, { recursive: true });
      await writeFile(join(FOLDER, `${release}.${name}.json`), JSON.stringify(runs));
    }
  });
}

/** The histories of all runs of a workflow, oldest first. */
async function runsOf(tests: WorkflowTests, workflowId: string): Promise<z.infer<typeof SavedRuns>> {
  const { workflow } = tests.env.client;
  const newest = await workflow.getHandle(workflowId).fetchHistory();
  let runId = newest.events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? undefined;
  const runs: z.infer<typeof SavedRuns> = [];
  while (typeof runId === 'string' && runId !== '') {
    const history = await workflow.getHandle(workflowId, runId).fetchHistory();
    runs.push({ workflowId, history: JSON.parse(historyToJSON(history)) as unknown });
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return runs;
}

const release = process.env['RECORD_HISTORIES'];
if (release !== undefined) describeRecording(release);
