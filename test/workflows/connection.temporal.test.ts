import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, STORED, submitAll, until, waits } from './scenarios.ts';
import { choice, CODE_PAGE, fault, INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

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

describe('a login with a person', () => {
  it('goes from DISCOVERING to COMPLETED and records every state', async () => {
    const id = await tests.create();
    tests.world.answers = [CODE_PAGE, INSIDE];
    const started = await tests.client.login(id);
    expect(started.document.flow).toMatchObject({ flow_status: 'IN_PROGRESS', flow_step: 'DISCOVERING' });
    await submitAll(tests, id, 'sub_1');
    await until(tests, id, (document) => document.flow?.interaction?.fields[0]?.type === 'code');
    await submitAll(tests, id, 'sub_2');
    const done = await until(tests, id, ended);
    expect(done).toMatchObject({
      status: 'AUTHENTICATED',
      post_login_url: 'https://site.example/account',
      flow: { flow_status: 'SUCCESS', flow_step: 'COMPLETED', interaction: null },
    });
    expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_1', 'sub_2']);
    await until(tests, id, () => tests.world.rows.get(id)?.flow?.flow_status === 'SUCCESS');
    const steps = tests.world.states.map((state) => state.flow?.flow_step);
    expect(steps).toEqual(expect.arrayContaining(['DISCOVERING', 'AWAITING_INPUT', 'SUBMITTING', 'COMPLETED']));
    const [event, ...more] = tests.world.timeline.values();
    expect(more).toEqual([]);
    expect(event).toMatchObject({ type: 'login', status: 'SUCCESS' });
    const times = event?.steps ?? [];
    expect(times.map(({ step }) => step)).toEqual([
      'DISCOVERING',
      ...['AWAITING_INPUT', 'SUBMITTING', 'AWAITING_INPUT', 'SUBMITTING'],
    ]);
    // Each step starts where the previous one ends: together they cover the whole login.
    expect(times.map(({ started_at: from }) => from)).toEqual([
      event?.timestamp,
      ...times.slice(0, -1).map(({ ended_at: end }) => end),
    ]);
    expect(times.at(-1)?.ended_at).toBe(event?.updated_at);
  });

  it.each([
    ['whose project was archived as it was made', 'project_gone', 'not_found'],
    ['that is one more than there may be', 'limit_reached', 'limit_reached'],
  ])('fails without a connection %s, which can be created later', async (_which, type, code) => {
    tests.world.storeFault = fault(type);
    await expect(tests.create()).rejects.toMatchObject({ code });
    expect(tests.world.rows.size).toBe(0);
    tests.world.storeFault = null;
    expect(tests.world.rows.has(await tests.create())).toBe(true);
  });

  it('asks again with reason rejected if the site shows the same form', async () => {
    const id = await tests.create();
    tests.world.answers = [{ ...LOGIN_PAGE, website_error: 'Wrong password.' }, INSIDE];
    await tests.client.login(id);
    await submitAll(tests, id, 'sub_wrong');
    const again = await until(tests, id, (document) => document.flow?.website_error === 'Wrong password.');
    expect(again.flow?.interaction?.fields.map((field) => field.reason)).toContain('rejected');
    await submitAll(tests, id, 'sub_right');
    expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  });

  it('rejects stale, unknown and missing answers, and a second login', async () => {
    const id = await tests.create();
    await expect(tests.client.submit(id, answer('none', ['field_user']))).rejects.toMatchObject({
      code: 'not_awaiting_input',
    });
    await tests.client.login(id);
    const interaction = (await until(tests, id, waits)).flow?.interaction?.interaction_id ?? '';
    await expect(tests.client.login(id)).rejects.toMatchObject({ code: 'flow_in_progress' });
    await expect(tests.client.submit(id, answer('stale', ['field_user']))).rejects.toMatchObject({
      code: 'stale_interaction',
    });
    await expect(tests.client.submit(id, answer(interaction, ['field_nobody']))).rejects.toMatchObject({
      code: 'unknown_field',
    });
    await expect(tests.client.submit(id, answer(interaction, ['field_user']))).rejects.toMatchObject({
      code: 'missing_field',
    });
    expect(tests.world.entered).toHaveLength(0);
  });

  it('accepts an answer by signal like one by update', async () => {
    const id = await tests.create();
    await tests.client.login(id);
    const { flow } = await until(tests, id, waits);
    await tests.client.submitBySignal(
      id,
      answer(flow?.interaction?.interaction_id ?? '', ['field_user', 'field_password']),
    );
    expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  });

  it('waits for an action elsewhere, and accepts no answer to that pause afterwards', async () => {
    const id = await tests.create();
    tests.world.discovered = [
      page('external_action', {
        external_action_message: 'Approve it on your phone.',
        choices: [choice('mfa_method', 'Text me', { mfa_type: 'sms' })],
      }),
    ];
    tests.world.shown = CODE_PAGE;
    await tests.client.login(id);
    await until(tests, id, (document) => document.flow?.interaction?.fields[0]?.type === 'code');
    const pause = tests.world.states.find((state) => state.flow?.flow_step === 'AWAITING_EXTERNAL_ACTION');
    expect(pause?.flow?.external_action_message).toBe('Approve it on your phone.');
    const old = pause?.flow?.interaction;
    await expect(
      tests.client.submit(id, {
        submissionId: null,
        interactionId: old?.interaction_id ?? '',
        fieldIds: [],
        selectedChoiceId: old?.choices[0]?.id ?? '',
      }),
    ).rejects.toMatchObject({ code: 'stale_interaction' });
    await submitAll(tests, id, 'sub_code');
    expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  });

  it('applies one of a hundred identical submits', async () => {
    const id = await tests.create();
    await tests.client.login(id);
    const { flow } = await until(tests, id, waits);
    const body = answer(flow?.interaction?.interaction_id ?? '', ['field_user', 'field_password']);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 100 }, (_, i) => tests.client.submit(id, { ...body, submissionId: `sub_${String(i)}` })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await until(tests, id, ended);
    expect(tests.world.entered).toHaveLength(1);
  });

  function answer(interactionId: string, fieldIds: string[]) {
    return { submissionId: 'sub_x', interactionId, fieldIds, selectedChoiceId: null };
  }
});

describe('a recorded connection', () => {
  const timeline = () => [...tests.world.timeline.values()].filter(({ status }) => status !== 'IN_PROGRESS');

  it('names the recording of each session on the timeline', async () => {
    tests.world.credential = STORED;
    const id = await tests.create({ credential: { name: 'saved' }, record_session: true });
    await tests.client.login(id);
    await until(tests, id, ended);
    await tests.client.check(id);
    await until(tests, id, () => timeline().length === 2);
    expect(timeline()).toMatchObject([
      { type: 'login', browser_session_id: 'brw_1', replay_id: 'rep_1' },
      { type: 'health_check', browser_session_id: 'brw_check', replay_id: 'rep_check' },
    ]);
  });

  it.each([
    [true, false],
    [false, true],
  ])('can be overridden for one login (default %s, override %s)', async (byDefault, here) => {
    tests.world.credential = STORED;
    const id = await tests.create({ credential: { name: 'saved' }, record_session: byDefault });
    await tests.client.login(id, { recordSession: here });
    await until(tests, id, () => timeline().length === 1);
    expect(timeline()[0]?.replay_id).toBe(here ? 'rep_1' : undefined);
    expect(tests.world.rows.get(id)?.settings.record_session).toBe(byDefault);
  });

  it('logs in without a recording, and never names that of a lost session', async () => {
    const id = await tests.create({ record_session: true });
    await tests.client.login(id);
    await until(tests, id, waits);
    tests.world.recorderWorks = false;
    tests.world.answers = [fault('session_gone'), INSIDE];
    await submitAll(tests, id, 'sub_1');
    await until(tests, id, (document) => document.flow?.browser_session_id === 'brw_2' && waits(document));
    await submitAll(tests, id, 'sub_2');
    await until(tests, id, () => timeline().length === 1);
    expect(timeline()[0]).toMatchObject({ status: 'SUCCESS', browser_session_id: 'brw_2' });
    expect(timeline()[0]?.replay_id).toBeUndefined();
    expect(timeline()[0]?.replay_error).toBe('Not recorded: why');
  });
});

describe('time', () => {
  it('ends a flow that nobody answers within ten minutes', async () => {
    const id = await tests.create();
    await tests.client.login(id);
    await until(tests, id, waits);
    await tests.env.sleep('11 minutes');
    expect((await until(tests, id, ended)).flow).toMatchObject({
      flow_status: 'FAILED',
      error_code: 'awaiting_input_timeout',
    });
    expect(tests.world.closed).toEqual(['brw_1']);
  });

  it('ends a login as blocked by a captcha that nobody solved, and shows the page until then', async () => {
    const id = await tests.create();
    tests.world.discovered = [page('captcha')];
    tests.world.shown = page('captcha');
    await tests.client.login(id);
    await until(tests, id, ({ flow }) => flow?.interaction?.acts_on_page === true);
    await tests.env.sleep('11 minutes');
    expect((await until(tests, id, ended)).flow).toMatchObject({
      flow_status: 'FAILED',
      error_code: 'captcha_blocked',
      interaction: null,
    });
  });

  it('asks a solver about a captcha once, for two minutes, and then a person', async () => {
    const id = await tests.create();
    tests.world.solvable = true;
    tests.world.solver = [];
    tests.world.discovered = [page('captcha')];
    tests.world.shown = page('captcha');
    await tests.client.login(id);
    await tests.env.sleep('1 minute');
    expect(tests.world.rows.get(id)?.flow?.interaction ?? null).toBeNull();
    await tests.env.sleep('2 minutes');
    await until(tests, id, ({ flow }) => flow?.interaction?.acts_on_page === true);
    expect(tests.world.solver).toEqual(['asked', ...Array<string>(39).fill('look'), 'last look']);
    tests.world.shown = LOGIN_PAGE;
    await until(tests, id, waits);
    expect(tests.world.solver).toHaveLength(41);
  });

  it('checks the session on its schedule after the first login', async () => {
    const id = await tests.create({ health_check_interval: 300 });
    await tests.env.sleep('20 minutes');
    expect(tests.world.checks).toBe(0);
    tests.world.discovered = [INSIDE];
    await tests.client.login(id);
    await until(tests, id, ended);
    await tests.env.sleep('28 minutes');
    expect(tests.world.checks).toBeGreaterThanOrEqual(5);
    expect(tests.world.checks).toBeLessThanOrEqual(6);
    await tests.client.configure(id, { health_check_interval: 86_400 });
    const before = tests.world.checks;
    await tests.env.sleep('60 minutes');
    expect(tests.world.checks).toBe(before);
  });
});

describe('the cost in history', () => {
  it('is at most 12 events per health check', async () => {
    const id = await tests.create({ health_check_interval: 300 });
    tests.world.discovered = [INSIDE];
    await tests.client.login(id);
    await until(tests, id, ended);
    const length = async (): Promise<number> =>
      (await tests.env.client.workflow.getHandle(workflowIdOf(id)).describe()).historyLength;
    await tests.env.sleep('11 minutes');
    const [checksBefore, eventsBefore] = [tests.world.checks, await length()];
    await tests.env.sleep('90 minutes');
    const checks = tests.world.checks - checksBefore;
    expect(checks).toBeGreaterThanOrEqual(15);
    // One check may be split between two counts.
    expect((await length()) - eventsBefore).toBeLessThanOrEqual(12 * (checks + 1));
    // However many checks follow, a run ends before its history is long.
    await tests.env.sleep('10 hours');
    expect(await length()).toBeLessThan(320);
  });
});

describe('identity', () => {
  it('creates one connection for fifty concurrent creates', async () => {
    const seed = {
      organizationId: 'org_default',
      projectId: 'prj_default',
      settings: { ...(await tests.client.read(await tests.create())).settings, profile_name: 'fifty' },
    };
    const results = await Promise.all(Array.from({ length: 50 }, () => tests.client.create(seed)));
    expect(results.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(new Set(results.map(({ document }) => document.id)).size).toBe(1);
  });

  it('ends with the connection; a new one in the same place has another id', async () => {
    const id = await tests.create({ profile_name: 'again' });
    await tests.client.login(id);
    await until(tests, id, waits);
    await tests.client.remove(id);
    expect(tests.world.rows.has(id)).toBe(false);
    await expect(tests.client.login(id)).rejects.toMatchObject({ code: 'not_found' });
    const next = await tests.create({ profile_name: 'again' });
    expect(next).not.toBe(id);
    await expect(tests.client.login(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
