import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import { domainHash } from '../../client/search-attributes.ts';
import { IDENTITY_KEY, startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, STORED, submitAll, until, waits } from './scenarios.ts';
import { INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

/** One browser for people and one for checks: holding one needlessly would block everybody. */
let tests: WorkflowTests;

beforeAll(async () => {
  tests = await startWorkflowTests('whole', { people: 1, checks: 1 });
});

afterAll(async () => {
  await tests.close();
});

beforeEach(async () => {
  await tests.removeAll();
  tests.reset();
});

it('lets a person log in while all browsers for checks are busy and more checks wait', async () => {
  const checked = [await loginByCredential(tests), await loginByCredential(tests)];
  let release: () => void = () => undefined;
  tests.world.holdChecks = new Promise((resolve) => {
    release = resolve;
  });
  const checks = checked.map((id) => tests.client.check(id));
  try {
    await expect.poll(() => tests.world.checksBegun).toBe(1);
    tests.world.credential = null;
    const id = await tests.create();
    await tests.client.login(id);
    await submitAll(tests, id, 'sub_1');
    expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
    expect(tests.world.checks).toBe(0);
  } finally {
    release();
  }
  await Promise.all(checks);
  expect(tests.world.checks).toBeGreaterThanOrEqual(2);
});

it('lets a person log in while another one is reaching for their phone', async () => {
  const push = page('external_action');
  tests.world.discovered = [push];
  tests.world.shown = push;
  const waiting = await tests.create();
  await tests.client.login(waiting);
  await until(tests, waiting, ({ flow }) => flow?.flow_step === 'AWAITING_EXTERNAL_ACTION');
  tests.world.discovered = [LOGIN_PAGE];
  const id = await tests.create();
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.rows.get(waiting)?.flow?.flow_step).toBe('AWAITING_EXTERNAL_ACTION');
  tests.world.shown = INSIDE;
  expect((await until(tests, waiting, ended)).flow?.flow_status).toBe('SUCCESS');
});

it('answers while the store is unavailable, and writes everything once it is back', async () => {
  const id = await tests.create();
  const writes = tests.world.writes;
  tests.world.storeFault = ApplicationFailure.retryable('The store is away', 'unavailable');
  const handle = tests.env.client.workflow.getHandle(workflowIdOf(id));
  try {
    await tests.client.login(id);
    // Local attempts are over: the server retries, with no open workflow task.
    await expect
      .poll(async () => (await handle.describe()).raw.pendingActivities?.map(({ activityType }) => activityType?.name))
      .toEqual(['recordConnection']);
    expect(tests.world.writes - writes).toBeGreaterThan(1);
    await expect.poll(async () => (await handle.describe()).raw.pendingWorkflowTask ?? null).toBeNull();
    await expect.poll(async () => (await tests.client.read(id)).flow?.flow_step).toBe('AWAITING_INPUT');
    await tests.client.configure(id, { auto_reauth: false });
    expect(tests.world.rows.get(id)?.flow).toBeNull();
  } finally {
    tests.world.storeFault = null;
  }
  await until(tests, id, (document) => waits(document) && !document.settings.auto_reauth);
});

it('is found in Temporal by organization, status and domain hash', async () => {
  tests.world.credential = STORED;
  const find = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { workflowId } of tests.env.client.workflow.list({
      query: `${query} AND ExecutionStatus = 'Running'`,
    }))
      found.push(workflowId);
    return found;
  };
  const domain = 'search.example';
  const id = await tests.create({ domain, credential: { name: 'saved' } });
  const other = await tests.create();
  const ours = `HoldfastOrganization = 'org_default' AND HoldfastDomain = '${domainHash(IDENTITY_KEY, domain)}'`;
  await expect.poll(() => find(`${ours} AND HoldfastStatus = 'NEEDS_AUTH'`)).toEqual([workflowIdOf(id)]);
  await tests.client.login(id);
  await until(tests, id, ended);
  await expect.poll(() => find(`${ours} AND HoldfastStatus = 'AUTHENTICATED'`)).toEqual([workflowIdOf(id)]);
  expect(await find(`HoldfastDomain = '${domain}'`)).toEqual([]);
  await expect.poll(() => find(`HoldfastStatus = 'NEEDS_AUTH'`)).toContain(workflowIdOf(other));
  const { raw } = await tests.env.client.workflow.getHandle(workflowIdOf(id)).describe();
  expect(JSON.stringify(raw)).not.toContain(domain);
});
