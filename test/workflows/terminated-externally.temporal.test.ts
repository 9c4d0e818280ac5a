import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import { startReviver } from '../../start/periodic-tasks.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, STORED, submitAll, until, waits } from './scenarios.ts';
import { CODE_PAGE, INSIDE, LOGIN_PAGE } from './scripted-world.ts';

/** Needs a full server: the time-skipping one does not notify parents of what an operator does in Temporal's UI. */
let tests: WorkflowTests;

beforeAll(async () => {
  tests = await startWorkflowTests('whole');
});

afterAll(async () => {
  await tests.close();
});

beforeEach(async () => {
  await tests.removeAll();
  tests.reset();
});

async function waiting(): Promise<{ id: string; flowId: string }> {
  const id = await tests.create({ health_checks: false });
  await tests.client.login(id);
  const { flow } = await until(tests, id, waits);
  return { id, flowId: flow?.flow_id ?? '' };
}

/** The connection can be used again: another login succeeds. */
async function logsIn(id: string): Promise<void> {
  await tests.client.login(id);
  await submitAll(tests, id, `sub_${id}`);
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
}

const handle = (workflowId: string) => tests.env.client.workflow.getHandle(workflowId);

it('shows a canceled flow as CANCELED and closes its browser', async () => {
  const { id, flowId } = await waiting();
  await handle(flowId).cancel();
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('CANCELED');
  expect(tests.world.closed).toEqual(['brw_1']);
  await logsIn(id);
});

it('shows a terminated flow as FAILED', async () => {
  const { id, flowId } = await waiting();
  await handle(flowId).terminate();
  expect((await until(tests, id, ended)).flow).toMatchObject({ flow_status: 'FAILED', error_code: 'internal_error' });
  await logsIn(id);
});

it('cancels its flow and keeps running when the connection is canceled', async () => {
  const { id } = await waiting();
  await handle(workflowIdOf(id)).cancel();
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('CANCELED');
  await logsIn(id);
});

it('restarts a terminated connection from its row and ends its running flow', async () => {
  const { id } = await waiting();
  await handle(workflowIdOf(id)).terminate();
  await tests.client.configure(id, { auto_reauth: false });
  const healed = await until(tests, id, ended);
  expect(healed).toMatchObject({ id, settings: { auto_reauth: false }, flow: { flow_status: 'FAILED' } });
  await until(tests, id, () => tests.world.closed.length === 1);
  await logsIn(id);
});

/** Sweeps all rows once, as each worker does periodically. */
async function walk(): Promise<string[]> {
  const revived: string[] = [];
  const walked = new Promise<void>((resolve) => {
    const task = startReviver(
      {
        rateLimiter: () => ({ take: () => Promise.resolve({ remaining: 0, retryAfterSeconds: 0 }) }),
        connections: { idsAfter: () => Promise.resolve([...tests.world.rows.keys()]) },
      },
      {
        revive: async (id) => {
          const done = await tests.client.revive(id);
          if (done) revived.push(id);
          if (id === [...tests.world.rows.keys()].at(-1)) resolve();
          return done;
        },
      },
    );
    task.stop();
  });
  await walked;
  return revived;
}

it('is revived by the sweeper without any call: its flow has ended and its checks continue', async () => {
  tests.world.credential = STORED;
  const id = await tests.create({ credential: { name: 'saved' }, health_check_interval: 2 });
  await tests.client.login(id);
  await until(tests, id, ended);
  tests.world.credential = null;
  const { id: other } = await waiting();
  await tests.client.login(id);
  await until(tests, id, waits);
  await handle(workflowIdOf(id)).terminate();
  expect(await walk()).toEqual([id]);
  expect(await until(tests, id, ended)).toMatchObject({ status: 'AUTHENTICATED', flow: { flow_status: 'FAILED' } });
  const checked = tests.world.checks;
  await until(tests, id, () => tests.world.checks > checked);
  expect(tests.world.rows.get(other)?.flow?.flow_step).toBe('AWAITING_INPUT');
  expect(await walk()).toEqual([]);
});

it.each([
  ['a password that was refused', { ...LOGIN_PAGE, website_error: 'Wrong password.' }, 'requires_customer_input'],
  ['a code that it met', CODE_PAGE, 'requires_sms_code'],
])('still knows %s after a restart from its row', async (_what, met, reason) => {
  const id = await loginByCredential(tests);
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  tests.world.answers = [met];
  await tests.client.check(id);
  await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
  const typed = tests.world.entered.length;
  await handle(workflowIdOf(id)).terminate();
  await tests.client.check(id);
  await tests.client.check(id);
  expect(await tests.client.read(id)).toMatchObject({ can_reauth: false, can_reauth_reason: reason });
  expect(tests.world.entered).toHaveLength(typed);
  tests.world.credential = { ...STORED, version: 2 };
  tests.world.answers = [INSIDE];
  await tests.client.check(id);
  await until(tests, id, ({ status }) => status === 'AUTHENTICATED');
});

it('is not restarted after it was deleted', async () => {
  const { id } = await waiting();
  await tests.client.remove(id);
  await expect(tests.client.configure(id, { auto_reauth: false })).rejects.toMatchObject({ code: 'not_found' });
  expect(await tests.client.revive(id)).toBe(false);
});
