import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConnectionsClient } from '../../client/create-connections-client.ts';
import { workflowIdOf } from '../../client/identity.ts';
import type { FlowState } from '../../contract/document.ts';
import { startTimeSkippingServer } from '../setup/temporal-server.ts';
import { documentOf } from '../store/databases.ts';
import { latePause, reachPause } from './late-pause-workflow.ts';

const TASK_QUEUE = 'late-pause';
const FLOW: FlowState = {
  flow_id: 'flow_1',
  flow_type: 'LOGIN',
  flow_status: 'IN_PROGRESS',
  flow_step: 'AWAITING_INPUT',
  flow_expires_at: '2100-01-01T00:00:00.000Z',
  started_at: '2026-01-01T00:00:00.000Z',
  browser_session_id: null,
  live_view_url: null,
  interaction: {
    interaction_id: 'shown',
    fields: [],
    choices: [],
    discovered_fields: [],
    mfa_options: [],
    pending_sso_buttons: [],
    sign_in_options: [],
  },
  external_action_message: null,
  sso_provider: null,
  error_code: null,
  error_message: null,
  website_error: null,
};
let env: TestWorkflowEnvironment;
let stop: () => Promise<void>;

beforeAll(async () => {
  env = await startTimeSkippingServer();
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('late-pause-workflow.ts', import.meta.url)),
    }),
  });
  const running = worker.run();
  stop = async () => {
    worker.shutdown();
    await running;
    await env.teardown();
  };
}, 120_000);
afterAll(() => stop());

/** A client of a connection that comes as far as its pause when an answer is sent for the second time. */
async function clientOf(
  id: string,
): Promise<{ submit: (interactionId: string) => Promise<unknown>; sent: () => number }> {
  const document = documentOf(id, 3, { flow: FLOW });
  const handle = await env.client.workflow.start(latePause, {
    taskQueue: TASK_QUEUE,
    workflowId: workflowIdOf(id),
    args: [{ removed: false, lastCheckId: null, document }],
  });
  let sent = 0;
  const temporal = new Client({
    connection: env.connection,
    interceptors: {
      workflow: [
        {
          startUpdate: async (input, next) => {
            sent += 1;
            if (sent === 2) await handle.signal(reachPause);
            return await next(input);
          },
        },
      ],
    },
  });
  const client = createConnectionsClient({ temporal, identityKey: Buffer.alloc(32, 1), taskQueue: TASK_QUEUE });
  return {
    submit: (interactionId) =>
      client.submit(id, { submissionId: `sub_${id}`, interactionId, fieldIds: ['field'], selectedChoiceId: null }),
    sent: () => sent,
  };
}

it('sends an answer again while the workflow shows the pause that it refuses', async () => {
  const { submit, sent } = await clientOf('conn_late');
  await expect(submit('shown')).resolves.toMatchObject({ revision: 3 });
  expect(sent()).toBe(2);
});

it('does not for another pause', async () => {
  const { submit, sent } = await clientOf('conn_other');
  await expect(submit('passed')).rejects.toMatchObject({ code: 'not_awaiting_input' });
  expect(sent()).toBe(1);
});
