import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, reauthThatIsRefused, STORED, submitAll, until, waits } from './scenarios.ts';
import { fault, INSIDE, LOGIN_PAGE } from './scripted-world.ts';

const EXPIRED = { outcome: 'expired', errorCode: 'session_expired', credential: null } as const;

let tests: WorkflowTests;

beforeAll(async () => {
  tests = await startWorkflowTests();
});

afterAll(async () => {
  await tests.close();
});

beforeEach(async () => {
  await tests.removeAll();
  tests.reset();
});

describe('an expired session', () => {
  async function loggedIn(): Promise<string> {
    const id = await loginByCredential(tests);
    expect(tests.world.rows.get(id)).toMatchObject({ status: 'AUTHENTICATED', can_reauth: true });
    return id;
  }

  it('is logged in again by an unattended REAUTH', async () => {
    const id = await loggedIn();
    tests.world.health = [EXPIRED];
    await tests.client.check(id);
    const done = await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
    expect(done).toMatchObject({ status: 'AUTHENTICATED', flow: { flow_status: 'SUCCESS' } });
    expect(tests.world.entered).toHaveLength(2);
  });

  it('stays NEEDS_AUTH after one attempt with a password that the site refuses', async () => {
    const id = await loggedIn();
    tests.world.health = [EXPIRED];
    tests.world.answers = [{ ...LOGIN_PAGE, website_error: 'Wrong password.' }];
    await tests.client.check(id);
    const done = await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
    expect(done).toMatchObject({
      status: 'NEEDS_AUTH',
      can_reauth: false,
      can_reauth_reason: 'requires_customer_input',
      flow: { flow_status: 'FAILED', error_code: 'credentials_invalid', website_error: 'Wrong password.' },
    });
    await tests.client.check(id);
    await tests.client.check(id);
    expect(tests.world.entered).toHaveLength(2);
    tests.world.credential = { ...STORED, version: 2 };
    tests.world.answers = [INSIDE];
    await tests.client.check(id);
    await until(tests, id, (document) => document.status === 'AUTHENTICATED');
  });

  it('is followed by an attended login that asks for the refused password instead of typing it again', async () => {
    const id = await reauthThatIsRefused(tests);
    tests.world.answers = [INSIDE];
    await tests.client.login(id);
    const { flow } = await until(tests, id, waits);
    expect(flow?.interaction?.fields.map(({ type, reason }) => [type, reason])).toContainEqual([
      'password',
      'rejected',
    ]);
    expect(tests.world.entered).toHaveLength(2);
    await submitAll(tests, id, 'sub_new');
    expect(await until(tests, id, ended)).toMatchObject({ status: 'AUTHENTICATED', can_reauth: true });
  });

  it.each([
    ['where auto_reauth is off', { credential: { name: 'saved' }, auto_reauth: false }, true, 'viable_plans_found'],
    ['where nothing is stored, and says why', { save_credentials: false }, false, 'no_credential'],
  ] as const)('stays NEEDS_AUTH %s', async (_where, wanted, may, reason) => {
    tests.world.credential = 'credential' in wanted ? STORED : null;
    const id = await tests.create(wanted);
    await tests.client.login(id);
    if (!may) await submitAll(tests, id, 'sub_1');
    await until(tests, id, ended);
    tests.world.health = [EXPIRED];
    expect((await tests.client.check(id))?.document).toMatchObject({
      ...{ status: 'NEEDS_AUTH', can_reauth: may, can_reauth_reason: reason },
      flow: { flow_type: 'LOGIN', flow_status: 'SUCCESS' },
    });
    expect([...tests.world.timeline.values()].map(({ type }) => type)).toEqual(['login', 'health_check']);
    expect(tests.world.entered).toHaveLength(1);
  });

  it('is not logged in to another account, neither by a REAUTH nor by a person', async () => {
    const id = await loggedIn();
    tests.world.health = [EXPIRED];
    tests.world.finishFault = fault('account_mismatch');
    const mismatch = { flow_status: 'FAILED', error_code: 'account_mismatch' };
    await tests.client.check(id);
    const closed = { status: 'NEEDS_AUTH', can_reauth: false, can_reauth_reason: 'requires_customer_input' };
    const refused = await until(tests, id, ({ flow, can_reauth: can }) => flow?.flow_type === 'REAUTH' && !can);
    expect(refused).toMatchObject({ ...closed, flow: mismatch });
    await tests.client.login(id);
    const again = await until(tests, id, (document) => document.flow?.flow_type === 'LOGIN' && ended(document));
    expect(again).toMatchObject({ ...closed, flow: mismatch });
  });

  it('is left to a person after one attempt if the site has locked the account', async () => {
    const id = await loggedIn();
    tests.world.health = [EXPIRED];
    tests.world.answers = [{ ...LOGIN_PAGE, website_error: 'Your account is locked.', lock_out: 'account_locked' }];
    await tests.client.check(id);
    expect(await until(tests, id, ({ can_reauth: can }) => !can)).toMatchObject({
      can_reauth_reason: 'requires_customer_input',
      flow: { flow_type: 'REAUTH', error_code: 'max_attempts_reached', website_error: 'Your account is locked.' },
    });
    await tests.client.check(id);
    expect(tests.world.entered).toHaveLength(2);
    tests.world.answers = [INSIDE];
    await tests.client.login(id);
    expect((await until(tests, id, ({ status }) => status === 'AUTHENTICATED')).can_reauth).toBe(true);
  });

  it('is detected by one check when two are requested at once', async () => {
    const id = await loggedIn();
    let release = (): void => undefined;
    tests.world.holdChecks = new Promise((resolve) => {
      release = resolve;
    });
    const first = tests.client.check(id);
    const begun = tests.world.checksBegun;
    while (tests.world.checksBegun === begun) await new Promise((resolve) => setTimeout(resolve, 10));
    await expect(tests.client.check(id)).rejects.toMatchObject({ code: 'check_in_progress' });
    release();
    expect((await first)?.document.status).toBe('AUTHENTICATED');
    expect(tests.world.checks).toBe(1);
  });

  it('keeps its status after an inconclusive check', async () => {
    const id = await loggedIn();
    tests.world.health = [{ outcome: 'inconclusive', errorCode: 'network_error', credential: null }];
    const document = (await tests.client.check(id))?.document;
    expect(document?.status).toBe('AUTHENTICATED');
    expect(document?.last_auth_check_at).not.toBeNull();
    expect(document?.flow?.flow_type).toBe('LOGIN');
  });
});
