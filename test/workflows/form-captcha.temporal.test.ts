import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ConnectionDocument } from '../../contract/document.ts';
import { startWorkflowTests, type WorkflowTests } from './environment.ts';
import { ended, loginByCredential, STORED, submitAll, until, waits } from './scenarios.ts';
import { fault, field, INSIDE, LOGIN_PAGE } from './scripted-world.ts';

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
const WANTS_PROOF = {
  ...LOGIN_PAGE,
  website_error: 'Please confirm that you are not a robot.',
  wants_proof: true,
} as const;
const onPage = ({ flow }: ConnectionDocument): boolean =>
  flow?.flow_step === 'AWAITING_EXTERNAL_ACTION' && flow.interaction?.acts_on_page === true;
const entries = (): string[] => tests.world.entered.map(({ entryId }) => entryId);
const reauths = () => [...tests.world.timeline.values()].filter(({ type }) => type === 'reauth');

it("is answered by a person on the page, after which the person's earlier values are entered once", async () => {
  const id = await tests.create();
  tests.world.unproved = true;
  tests.world.answers = [fault('captcha_unanswered'), INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  const waiting = await until(tests, id, onPage);
  expect(waiting.flow).toMatchObject({ passwords_typed: 0, interaction: { fields: [], choices: [] } });
  expect(waiting.flow?.external_action_message).toContain('the fields are filled in after that');
  tests.world.unproved = false;
  expect((await until(tests, id, ended)).flow).toMatchObject({ flow_status: 'SUCCESS', passwords_typed: 1 });
  expect(tests.world.entered.map(({ submissionId }) => submissionId)).toEqual(['sub_1', 'sub_1']);
  expect(new Set(entries()).size).toBe(1);
  expect(tests.world.abandoned).toEqual([]);
});

it('shows a person the picture of its characters, and closes the gate: the next ones are unknown', async () => {
  const characters = field('text', 'captcha', { captcha: true });
  const picture = 'data:image/png;base64,AAAA';
  tests.world.discovered = [{ ...LOGIN_PAGE, fields: [...LOGIN_PAGE.fields, characters] }];
  tests.world.pictures = { captcha: picture };
  tests.world.credential = { ...STORED, valueKeys: [...STORED.valueKeys, 'captcha'] };
  const id = await tests.create({ credential: { name: 'saved' } });
  await tests.client.login(id);
  const { flow } = await until(tests, id, waits);
  const [asked] = flow?.interaction?.fields ?? [];
  expect(flow?.interaction?.pictures).toEqual({ [asked?.id ?? '']: picture });
  await submitAll(tests, id, 'sub_1');
  const done = await until(tests, id, ended);
  expect(done.flow).toMatchObject({ flow_status: 'SUCCESS' });
  expect(done).toMatchObject({ can_reauth: false, can_reauth_reason: 'requires_customer_input' });
});

it('blocks the login if nobody answers it, and the pending values are destroyed', async () => {
  const id = await tests.create();
  tests.world.unproved = true;
  tests.world.answers = [fault('captcha_unanswered')];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  await until(tests, id, onPage);
  await tests.env.sleep('11 minutes');
  expect((await until(tests, id, ended)).flow).toMatchObject({
    flow_status: 'FAILED',
    error_code: 'captcha_blocked',
    passwords_typed: 0,
  });
  expect(tests.world.abandoned).toEqual(entries());
});

it('is not shown to anybody if it is answered by the next reading of the page', async () => {
  const id = await tests.create();
  tests.world.answers = [fault('captcha_unanswered'), INSIDE];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  expect((await until(tests, id, ended)).flow?.flow_status).toBe('SUCCESS');
  expect(tests.world.states.some(onPage)).toBe(false);
});

it('fails the login if a new one appears each time', async () => {
  const id = await tests.create();
  tests.world.answers = [fault('captcha_unanswered')];
  await tests.client.login(id);
  await submitAll(tests, id, 'sub_1');
  expect((await until(tests, id, ended)).flow?.error_code).toBe('captcha_blocked');
  expect(entries()).toHaveLength(4);
});

it('ends an unattended REAUTH before the password is submitted', async () => {
  const id = await loginByCredential(tests);
  tests.world.health = [EXPIRED];
  tests.world.unproved = true;
  tests.world.answers = [fault('captcha_unanswered')];
  await tests.client.check(id);
  await until(tests, id, () => reauths()[0]?.status === 'FAILED');
  expect(reauths()[0]?.error_code).toBe('captcha_blocked');
  expect(tests.world.rows.get(id)).toMatchObject({ can_reauth: true, flow: { passwords_typed: 0 } });
});

it('is answered by a solver during a REAUTH', async () => {
  const id = await loginByCredential(tests);
  tests.world.health = [EXPIRED];
  tests.world.unproved = 'until_solved';
  tests.world.solvable = true;
  tests.world.solver = [];
  tests.world.solutions = [LOGIN_PAGE];
  tests.world.answers = [fault('captcha_unanswered'), INSIDE];
  await tests.client.check(id);
  await until(tests, id, () => reauths().some(({ status }) => status !== 'IN_PROGRESS'));
  expect(reauths()[0]).toMatchObject({ status: 'SUCCESS' });
  expect(tests.world.solver).toEqual(['asked', 'look']);
});

it('ends a REAUTH if the solver answers in vain', async () => {
  const id = await loginByCredential(tests);
  tests.world.health = [EXPIRED];
  tests.world.unproved = true;
  tests.world.solvable = true;
  tests.world.solver = [];
  tests.world.solutions = [LOGIN_PAGE];
  tests.world.answers = [fault('captcha_unanswered')];
  await tests.client.check(id);
  await until(tests, id, () => reauths()[0]?.status === 'FAILED');
  expect(reauths()[0]?.error_code).toBe('captcha_blocked');
  expect(tests.world.solver).toEqual(['asked', 'look']);
});

it('does not count the saved password as rejected if it is added to the form after a first attempt', async () => {
  const id = await tests.create({ credential: { name: 'saved' } });
  tests.world.credential = STORED;
  tests.world.unproved = true;
  tests.world.answers = [WANTS_PROOF, fault('captcha_unanswered'), INSIDE];
  await tests.client.login(id);
  await until(tests, id, onPage);
  expect(tests.world.rows.get(id)?.flow?.passwords_typed).toBe(1);
  tests.world.unproved = false;
  expect((await until(tests, id, ended)).flow).toMatchObject({ flow_status: 'SUCCESS', passwords_typed: 2 });
});

it('does not mark the password as wrong if the site keeps reporting it as unanswered', async () => {
  const id = await loginByCredential(tests);
  tests.world.health = [EXPIRED];
  tests.world.answers = [WANTS_PROOF];
  await tests.client.check(id);
  await until(tests, id, () => reauths()[0]?.status === 'FAILED');
  expect(reauths()[0]?.error_code).toBe('captcha_blocked');
  // A captcha out of sight cannot be answered: one attempt is made.
  expect(tests.world.entered).toHaveLength(2);
  expect(tests.world.rows.get(id)).toMatchObject({ can_reauth: true });
});
