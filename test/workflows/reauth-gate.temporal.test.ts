import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, STORED, submitAll, until, waits } from './scenarios.ts';
import { choice, CODE_PAGE, INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

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

const EXPIRED = { outcome: 'expired', errorCode: 'session_expired', credential: null } as const;

/** How often the password was typed. */
const passwords = (): number =>
  tests.world.entered.filter(({ answer }) => answer.entries.some(({ field }) => field.type === 'password')).length;
const reauths = () => [...tests.world.timeline.values()].filter(({ type }) => type === 'reauth');

describe('a session that expires while the site asks for more than is stored', () => {
  it.each([
    ['a code by text message', CODE_PAGE, 'requires_sms_code'],
    ['a push', page('external_action'), 'requires_external_action'],
    ['an account to choose', page('choice', { choices: [choice('account', 'A')] }), 'requires_customer_input'],
  ])('has its password typed once when it meets %s, however many checks come', async (_what, met, reason) => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [met];
    await tests.env.sleep('1 hour');
    expect(tests.world.checks).toBeGreaterThan(8);
    expect(passwords()).toBe(2);
    expect(tests.world.rows.get(id)).toMatchObject({
      status: 'NEEDS_AUTH',
      can_reauth: false,
      can_reauth_reason: reason,
    });
    const checks = tests.world.checks;
    await tests.client.check(id);
    expect(tests.world.checks).toBe(checks + 1);
    expect(reauths()).toHaveLength(1);
  });

  it('is logged in again by itself once the credential has changed', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [CODE_PAGE];
    await tests.env.sleep('20 minutes');
    expect(tests.world.rows.get(id)?.can_reauth).toBe(false);
    tests.world.credential = { ...STORED, version: 2 };
    tests.world.answers = [INSIDE];
    await tests.client.check(id);
    const done = await until(tests, id, ({ status }) => status === 'AUTHENTICATED');
    expect(done.can_reauth).toBe(true);
    expect(passwords()).toBe(3);
  });

  it('says at once that it can be logged in again when the credential is told to have changed', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [CODE_PAGE];
    await tests.env.sleep('20 minutes');
    expect(tests.world.rows.get(id)?.can_reauth).toBe(false);
    tests.world.credential = { ...STORED, version: 2 };
    const checks = tests.world.checks;
    await tests.client.credentialChanged(id);
    await until(tests, id, ({ can_reauth: can }) => can);
    expect(tests.world.checks).toBe(checks);
  });

  it('asks for the same again after a person has logged in with it', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [CODE_PAGE, CODE_PAGE, INSIDE];
    await tests.env.sleep('20 minutes');
    expect(tests.world.rows.get(id)?.can_reauth_reason).toBe('requires_sms_code');
    await tests.client.login(id);
    await until(tests, id, waits);
    await submitAll(tests, id, 'sub_code');
    await until(tests, id, (document) => document.flow?.flow_type === 'LOGIN' && ended(document));
    const typed = passwords();
    await tests.env.sleep('1 hour');
    expect(passwords()).toBe(typed);
    expect(tests.world.rows.get(id)).toMatchObject({ can_reauth: false, can_reauth_reason: 'requires_sms_code' });
  });

  it('is tried ever less often while the login fails for another reason', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [page('blocked')];
    await tests.env.sleep('3 hours');
    // At 5, 10, 20, 40, 80 and 160 minutes, more or less; never at each of the checks.
    expect(tests.world.checks).toBeGreaterThan(25);
    expect(reauths().length).toBeGreaterThanOrEqual(5);
    expect(reauths().length).toBeLessThanOrEqual(7);
    expect(passwords()).toBe(1 + reauths().length);
    expect(tests.world.rows.get(id)).toMatchObject({ status: 'NEEDS_AUTH', can_reauth: true });
    expect(reauths()[1]?.error_message).toMatch(
      /^The site blocks the browser; try again later or use a proxy\. Logging in again has failed 2 times in a row; the next try is due at 20\d\d-.*Z$/,
    );
    const before = reauths().length;
    await tests.client.check(id);
    expect(reauths()).toHaveLength(before);
    tests.world.discovered = [LOGIN_PAGE];
    tests.world.answers = [INSIDE];
    tests.world.credential = { ...STORED, version: 2 };
    await tests.client.check(id);
    await until(tests, id, ({ status }) => status === 'AUTHENTICATED');
  });
});
