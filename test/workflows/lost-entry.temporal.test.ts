import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, STORED, submitAll, until, waits } from './scenarios.ts';
import { INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

/** Failures when the worker that typed, or its browser, is lost. */
const LOST = ApplicationFailure.nonRetryable('an activity failed', 'internal_error');
const UNCERTAIN = ApplicationFailure.nonRetryable('this answer was already entered', 'entry_uncertain');
const GONE = ApplicationFailure.nonRetryable('the browser session is gone', 'session_gone');

/** A browser service that is down for longer than a supervisor takes to restart it. */
const OUTAGE = Array.from({ length: 40 }, () => ApplicationFailure.retryable('it is down', 'service_unavailable'));

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

// First, while time is sure to skip: the time-skipping server stops once an entity continued as new with an open child.
it('waits for a browser service that is down for minutes without asking the person again', async () => {
  tests.world.discovered = [...OUTAGE, LOGIN_PAGE];
  tests.world.answers = [...OUTAGE, INSIDE];
  const id = await tests.create();
  await tests.client.login(id);
  await tests.env.sleep('4 minutes');
  await submitAll(tests, id, 'sub_1');
  await tests.env.sleep('4 minutes');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(new Set(tests.world.entered.map(({ submissionId }) => submissionId))).toEqual(new Set(['sub_1']));
  expect(tests.world.abandoned).toEqual([]);
});

it('continues if the lost worker had pressed the button and the site let the person in', async () => {
  const id = await tests.create();
  tests.world.answers = [LOST];
  tests.world.shown = INSIDE;
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered).toHaveLength(1);
  expect(tests.world.abandoned).toEqual([tests.world.entered[0]?.entryId]);
});

it('asks the person again, in a new interaction, if it is unknown what was typed', async () => {
  const id = await tests.create();
  tests.world.answers = [UNCERTAIN, INSIDE];
  tests.world.reach = 'keys';
  await tests.client.login(id);
  const first = (await until(tests, id, waits)).flow?.interaction?.interaction_id;
  await submitAll(tests, id, 'sub_1');
  const again = await until(
    tests,
    id,
    (document) => waits(document) && document.flow?.interaction?.interaction_id !== first,
  );
  expect(again.flow?.interaction?.fields.map(({ reason }) => reason)).toEqual(['missing', 'missing']);
  expect(tests.world.reopened).toBe(1);
  await submitAll(tests, id, 'sub_2');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_1', 'sub_2']);
});

it('starts over in a new session and asks for everything again if the browser is lost', async () => {
  const id = await tests.create();
  tests.world.answers = [GONE, INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, (document) => waits(document) && document.flow?.browser_session_id === 'brw_2');
  await submitAll(tests, id, 'sub_2');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
});

/** How often the last login typed a password, according to the timeline. */
const typedOnTimeline = () => [...tests.world.timeline.values()].at(-1)?.passwords_typed;

it.each([
  ['nothing', 1],
  ['keys', 2],
] as const)('enters a stored credential again where %s had gone in, and counts it', async (reach, count) => {
  tests.world.answers = [LOST, INSIDE];
  tests.world.reach = reach;
  const id = await loginByCredential(tests);
  expect(tests.world.rows.get(id)?.flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered).toHaveLength(2);
  expect(tests.world.sessions).toHaveLength(1);
  expect(typedOnTimeline()).toBe(count);
});

it('retypes a stored credential that may have been submitted only in a fresh session', async () => {
  tests.world.answers = [LOST, INSIDE];
  const id = await loginByCredential(tests);
  expect(tests.world.rows.get(id)?.flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.entered.map(({ sessionId }) => sessionId)).toEqual(['brw_1', 'brw_2']);
  expect(typedOnTimeline()).toBe(2);
});

it('continues with a stored credential if the browser is lost, a limited number of times', async () => {
  tests.world.answers = [GONE, INSIDE];
  const id = await loginByCredential(tests);
  expect(tests.world.rows.get(id)?.flow?.flow_status).toBe('SUCCESS');

  tests.reset();
  tests.world.credential = STORED;
  tests.world.answers = [GONE];
  tests.world.health = [{ outcome: 'expired', errorCode: 'session_expired', credential: null }];
  await tests.client.check(id);
  const failed = await until(tests, id, (document) => document.flow?.flow_type === 'REAUTH' && ended(document));
  expect(failed).toMatchObject({ status: 'NEEDS_AUTH', can_reauth: true, flow: { error_code: 'browser_error' } });
  expect(tests.world.entered).toHaveLength(3);
});

it('asks for another answer if the site rejected what a lost worker submitted', async () => {
  tests.world.credential = STORED;
  tests.world.answers = [LOST];
  tests.world.shown = { ...LOGIN_PAGE, website_error: 'Wrong password' };
  const id = await tests.create({ credential: { name: 'saved' } });
  await tests.client.login(id);
  const asking = await until(tests, id, waits);
  expect(asking.flow?.interaction?.fields.map(({ reason }) => reason)).toContain('rejected');
  expect(tests.world.entered).toHaveLength(1);
});

it('retypes a user name after its session was lost, because it is no secret', async () => {
  const identifier = page('form', { fields: LOGIN_PAGE.fields.slice(0, 1) });
  const password = page('form', { fields: LOGIN_PAGE.fields.slice(1) });
  tests.world.discovered = [identifier];
  tests.world.answers = [password, GONE, password, INSIDE];
  tests.world.reach = 'nothing';
  const id = await loginByCredential(tests);
  expect(tests.world.rows.get(id)?.flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.sessions).toHaveLength(2);
});
