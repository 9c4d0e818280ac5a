import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CanReauthReason } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { PageReading } from '../../contract/reading.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByChoice, loginByCredential, STORED, submitAll, until, waits } from './scenarios.ts';
import { choice, CODE_PAGE, field, INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

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

describe('an expired session whose site asks for more than is stored', () => {
  it.each([
    ['a code by text message', CODE_PAGE, 'requires_sms_code'],
    ['a push', page('external_action'), 'requires_external_action'],
    ['an account to choose', page('choice', { choices: [choice('account', 'A')] }), 'requires_customer_input'],
  ])('has its password typed once if it meets %s, however many checks follow', async (_what, met, reason) => {
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

  it('is logged in again automatically once the credential has changed', async () => {
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

  it('reports at once that it can be logged in again when the credential has changed', async () => {
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

  it('meets the same obstacle again after a person has logged in', async () => {
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

  it('is retried ever less often while the login fails for another reason', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [page('blocked')];
    await tests.env.sleep('3 hours');
    // At about 5, 10, 20, 40, 80 and 160 minutes; never at each of the checks.
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

it('is delayed ever longer, but not forever, while the site fails after the password', async () => {
  const id = await loginByCredential(tests);
  tests.world.health = [EXPIRED];
  tests.world.answers = [page('other', { website_error: 'Something went wrong on our side.' })];
  await tests.env.sleep('8 hours');
  // At about 0, 1, 3 and 7 hours, with a check every five minutes.
  expect(reauths().map(({ error_code: code }) => code)).toEqual(Array(4).fill('website_error'));
  expect(passwords()).toBe(1 + 4);
  expect(tests.world.rows.get(id)).toMatchObject({ status: 'NEEDS_AUTH', can_reauth: true });
});

describe('a captcha in front of the login', () => {
  it('is answered by a solver when unattended', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.solvable = true;
    tests.world.solver = [];
    tests.world.solutions = [LOGIN_PAGE];
    tests.world.discovered = [page('captcha')];
    tests.world.answers = [INSIDE];
    await tests.client.check(id);
    await until(tests, id, ({ status, flow }) => status === 'AUTHENTICATED' && flow?.flow_type === 'REAUTH');
    expect(tests.world.solver).toEqual(['asked', 'look']);
    expect(passwords()).toBe(2);
  });

  it.each([
    ['a solver that takes no task', null, []],
    ['answers that the site does not take', [], [page('captcha')]],
  ])('fails it with %s, without closing the gate', async (_what, solver, solutions) => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.solvable = true;
    tests.world.solver = solver;
    tests.world.solutions = solutions;
    tests.world.discovered = [page('captcha')];
    await tests.client.check(id);
    await until(tests, id, () => reauths()[0]?.status === 'FAILED');
    expect(reauths()[0]?.error_code).toBe('captcha_blocked');
    expect(tests.world.solver).toEqual(solver === null ? null : ['asked', 'look']);
    expect(tests.world.rows.get(id)).toMatchObject({ can_reauth: true });
    expect(passwords()).toBe(1);
  });
});

describe('a mailed link', () => {
  const WAITS = page('external_action', { url: 'https://site.example/sent', mailed_link: true });
  const MAILED = ({ flow }: ConnectionDocument): boolean => flow?.interaction?.takes_link === true;
  const open = async (id: string, submissionId: string): Promise<void> => {
    const { flow } = await until(tests, id, MAILED);
    const interactionId = flow?.interaction?.interaction_id ?? '';
    const answer = { submissionId, interactionId, fieldIds: ['mailed_link'], selectedChoiceId: null };
    await tests.client.submit(id, answer);
    // The same link opens nothing a second time.
    await tests.client.submit(id, answer);
  };

  it('is opened in the waiting session, during a login and a REAUTH, once each', async () => {
    tests.world.credential = STORED;
    tests.world.shown = WAITS;
    const id = await tests.create({
      credential: { name: 'saved' },
      health_check_interval: 300,
      codes: { api: ['email'] },
    });
    tests.world.answers = [WAITS, INSIDE];
    await tests.client.login(id);
    await open(id, 'sub_link');
    await until(tests, id, ({ can_reauth_reason: reason }) => reason === 'requirements_satisfiable');
    const from = { sessionId: 'brw_1', submissionId: 'sub_link', from: 'external_action' };
    expect(tests.world.linksOpened).toMatchObject([from]);
    tests.world.health = [EXPIRED];
    tests.world.answers = [WAITS, INSIDE];
    await tests.client.check(id);
    await open(id, 'sub_again');
    await until(tests, id, ({ status }) => status === 'AUTHENTICATED');
    expect(tests.world.linksOpened).toMatchObject([from, { sessionId: 'brw_2', submissionId: 'sub_again' }]);
  });

  it('is opened if the page asks for a mailed code, and not waited for again if the site still asks', async () => {
    tests.world.credential = STORED;
    const asks = page('form', { fields: [field('code', 'code', { channel: 'email' })] });
    const id = await tests.create({
      credential: { name: 'saved' },
      health_check_interval: 300,
      codes: { api: ['email'] },
    });
    tests.world.answers = [asks, INSIDE];
    await tests.client.login(id);
    await open(id, 'sub_link');
    await until(tests, id, ({ can_reauth_reason: reason }) => reason === 'requirements_satisfiable');
    expect(tests.world.linksOpened).toMatchObject([{ submissionId: 'sub_link', from: 'form' }]);
    tests.world.health = [EXPIRED];
    tests.world.answers = [asks];
    await tests.client.check(id);
    await open(id, 'sub_again');
    await until(tests, id, ({ can_reauth_reason: reason }) => reason === 'requires_email_code');
    expect(tests.world.linksOpened).toHaveLength(2);
  });

  it('ends a REAUTH if it does not arrive within three minutes; a later one retries', async () => {
    const id = await loginByCredential(tests);
    await tests.client.configure(id, { codes: { api: ['email'] } });
    tests.world.health = [EXPIRED];
    tests.world.answers = [WAITS];
    tests.world.shown = WAITS;
    await tests.client.check(id);
    await until(tests, id, MAILED);
    await tests.env.sleep('4 minutes');
    expect((await until(tests, id, ended)).flow).toMatchObject({ error_code: 'external_action_timeout' });
    expect(tests.world.rows.get(id)?.can_reauth).toBe(true);
    expect(reauths()[0]?.error_message).toContain('No email with the sign-in link came within three minutes');
  });
});

describe('can_reauth_reason', () => {
  const says = (id: string, reason: CanReauthReason) =>
    until(tests, id, (document) => document.can_reauth_reason === reason);
  const TOTP_PAGE = page('form', { fields: [field('totp_code', 'otp')] });
  const MAIL_PAGE = page('form', { fields: [field('code', 'code', { channel: 'email' })] });
  const saved = { credential: { name: 'saved' } };

  /** A login in which a person answers what is not stored. */
  async function login(id: string, ...answers: PageReading[]): Promise<void> {
    tests.world.answers = [...answers, INSIDE];
    await tests.client.login(id);
    for (const [index, { fields }] of answers.entries()) {
      const asks = ({ flow }: ConnectionDocument) => flow?.interaction?.discovered_fields[0]?.name === fields[0]?.name;
      await until(tests, id, asks);
      await submitAll(tests, id, `sub_${id}_${String(index)}`);
    }
    await until(tests, id, ended);
  }

  it('reports the credential: no login yet, none attached, unread, answering the plan', async () => {
    const id = await tests.create();
    expect(tests.world.rows.get(id)?.can_reauth_reason).toBe('no_prior_successful_login');
    await tests.client.login(id);
    await submitAll(tests, id, 'sub_1');
    await until(tests, id, ended);
    await says(id, 'no_credential');
    tests.world.credential = STORED;
    const { document } = await tests.client.configure(id, saved);
    expect(document).toMatchObject({ can_reauth: true, can_reauth_reason: 'has_credential' });
    await says(id, 'requirements_satisfiable');
    await login(id);
    await says(id, 'viable_plans_found');
    tests.world.discovered = [{ ...LOGIN_PAGE, by_model: true }];
    await login(id);
    expect(await says(id, 'cua_has_credential')).toMatchObject({ can_reauth: true });
  });

  it('reports a site that asked for nothing, and an external credential', async () => {
    tests.world.credential = STORED;
    tests.world.discovered = [INSIDE];
    const id = await tests.create(saved);
    await login(id);
    expect(await says(id, 'no_requirements_recorded')).toMatchObject({ can_reauth: true });
    await tests.client.configure(id, { credential: { provider: 'vault', auto: true } });
    expect(await says(id, 'external_credential')).toMatchObject({ can_reauth: true });
    tests.world.discovered = [LOGIN_PAGE];
    await login(id);
    expect(await says(id, 'external_credential')).toMatchObject({ can_reauth: true });
  });

  it.each<[CanReauthReason, PageReading]>([
    ['requires_totp_without_secret', TOTP_PAGE],
    ['requires_sms_code', CODE_PAGE],
    ['requires_email_code', MAIL_PAGE],
  ])('is %s after a login with such a code from a person', async (reason, asked) => {
    tests.world.credential = STORED;
    const id = await tests.create(saved);
    await login(id, asked);
    expect(await says(id, reason)).toMatchObject({ can_reauth: false });
  });

  it('reports an action elsewhere that the plan took, not one that was only offered', async () => {
    tests.world.credential = STORED;
    const id = await tests.create(saved);
    const push = page('external_action', { fields: [field('totp_code', 'otp')] });
    tests.world.answers = [push];
    tests.world.shown = push;
    await tests.client.login(id);
    await until(tests, id, ({ flow }) => flow?.flow_step === 'AWAITING_EXTERNAL_ACTION');
    tests.world.shown = INSIDE;
    await tests.env.sleep('1 minute');
    await until(tests, id, ended);
    expect(await says(id, 'viable_plans_require_external_action')).toMatchObject({ can_reauth: false });
    tests.world.shown = push;
    tests.world.answers = [push, INSIDE];
    await tests.client.login(id);
    const { flow } = await until(tests, id, ({ flow: now }) => now?.flow_step === 'AWAITING_EXTERNAL_ACTION');
    const { interaction_id: interactionId = '', fields = [] } = flow?.interaction ?? {};
    const fieldIds = fields.map((each) => each.id);
    await tests.client.submit(id, { submissionId: 'sub_otp', interactionId, fieldIds, selectedChoiceId: null });
    await says(id, 'requires_totp_without_secret');
  });
});

describe('a REAUTH that follows a plan', () => {
  const expire = async (id: string, wanted: (document: ConnectionDocument) => boolean): Promise<ConnectionDocument> => {
    tests.world.health = [EXPIRED];
    const before = reauths().length;
    await tests.client.check(id);
    await until(tests, id, (document) => reauths().length > before && ended(document) && wanted(document));
    return await until(tests, id, wanted);
  };

  it('picks the account that a person picked, and counts for that plan', async () => {
    tests.world.credential = STORED;
    const id = await loginByChoice(tests, tests.create({ credential: { name: 'saved' } }));
    tests.world.discovered = [page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Ben')] })];
    await expire(id, ({ status }) => status === 'AUTHENTICATED');
    expect(tests.world.entered.map(({ answer }) => answer.choice?.label)).toEqual(['Ben', 'Ben']);
    const plans = tests.world.rows.get(id)?.reauth?.plans ?? [];
    expect(plans.map(({ steps }) => steps.map((step) => step.choice?.answered_by))).toEqual([['credential']]);
  });

  it('picks the device by the name that a person picked beside its code field', async () => {
    tests.world.credential = { ...STORED, hasTotpSecret: true };
    const devices = [choice('mfa_method', 'phone'), choice('mfa_method', 'tablet')];
    const asks = page('form', { fields: [field('code', 'otp', { channel: 'sms' })], choices: devices });
    const takes = page('form', { ...asks, fields: [field('totp_code', 'otp')] });
    tests.world.answers = [asks, takes, INSIDE];
    const id = await tests.create({ credential: { name: 'saved' } });
    await tests.client.login(id);
    const { flow } = await until(tests, id, waits);
    const { interaction_id: interactionId = '', choices = [] } = flow?.interaction ?? {};
    const selectedChoiceId = choices.find(({ label }) => label === 'tablet')?.id ?? '';
    await tests.client.submit(id, { submissionId: null, interactionId, fieldIds: [], selectedChoiceId });
    await until(tests, id, ended);
    tests.world.answers = [takes, takes, INSIDE];
    await expire(id, ({ status }) => status === 'AUTHENTICATED');
    const taken = tests.world.entered.map(({ answer }) => answer.choice?.label ?? answer.entries.map(({ ref }) => ref));
    const walked = [['username', 'password'], 'tablet', ['code']];
    expect(taken).toEqual([...walked, ...walked]);
  });

  it('reads the page if the plan does not fit, and becomes the plan itself', async () => {
    const id = await loginByCredential(tests);
    const [before] = tests.world.rows.get(id)?.reauth?.plans ?? [];
    tests.world.discovered = [page('form', { fields: [field('identifier', 'email', { discovered_type: 'email' })] })];
    tests.world.answers = [page('form', { fields: [field('password', 'secret')] }), INSIDE];
    const done = await expire(id, ({ status }) => status === 'AUTHENTICATED');
    expect(done.reauth?.plans?.map(({ steps, failures }) => [steps.length, failures.count])).toEqual([
      [2, 0],
      [1, 1],
    ]);
    expect(done.reauth?.plans?.[1]?.id).toBe(before?.id);
  });

  it('is abandoned after the plan has failed twice, until the credential changes', async () => {
    const id = await loginByCredential(tests);
    tests.world.health = [EXPIRED];
    tests.world.answers = [page('other')];
    await tests.env.sleep('2 hours');
    expect(reauths().map(({ error_code: code }) => code)).toEqual(['stuck_in_loop', 'stuck_in_loop']);
    expect(passwords()).toBe(3);
    expect(tests.world.rows.get(id)).toMatchObject({ can_reauth: false, can_reauth_reason: 'no_viable_plans' });
    tests.world.credential = { ...STORED, version: 2 };
    await tests.client.credentialChanged(id);
    const { can_reauth_reason: reason } = await until(tests, id, ({ can_reauth: can }) => can);
    expect(reason).toBe('has_credential');
    await tests.client.check(id);
    await until(tests, id, ({ can_reauth: can }) => !can);
    expect(reauths()).toHaveLength(3);
  });
});
