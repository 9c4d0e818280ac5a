import { describe, expect, it } from 'vitest';
import type { LoginPlan, PlanStep } from '../../contract/login-plan.ts';
import { commonRef, NOTHING_KNOWN } from '../../workflows/policy/field-refs.ts';
import {
  addStep,
  isViable,
  notePlanFailure,
  pageShape,
  plansOf,
  rememberPlan,
  stepFor,
} from '../../workflows/policy/login-plan.ts';
import { choice, field, LOGIN_PAGE, page } from './scripted-world.ts';

const LOGIN = 'https://site.example/login';

function step(more: Partial<PlanStep> & { refs?: string[]; took?: string } = {}): PlanStep {
  const { refs = [], took, ...rest } = more;
  const fields = refs.map((name) => {
    const read = field(name === 'password' ? 'password' : 'text', name);
    return { ...read, ref: name === 'user' ? 'user' : commonRef(read), answered_by: 'person' as const };
  });
  const taken = { type: 'account', label: took ?? '', masked_destination: null, answered_by: 'person' } as const;
  return { page: LOGIN, fields, choice: took === undefined ? null : taken, external: false, ...rest };
}

function plan(id: string, steps: PlanStep[], count = 0): LoginPlan {
  return { id, credential_id: null, steps, failures: { count, credential: null } };
}

describe('the shape of a page', () => {
  it.each([
    ['https://a.example/login?next=%2Fx#top', 'https://a.example/login'],
    ['http://localhost:8080/u/4711/login', 'http://localhost:8080/u/*/login'],
    ['https://a.example/oauth/0f8fad5b-d9cb-469f-a165-70867728950e/sign-in', 'https://a.example/oauth/*/sign-in'],
    ['https://a.example/v2/auth', 'https://a.example/v2/auth'],
    ['https://a.example/step-1', 'https://a.example/step-1'],
    ['https://a.example', 'https://a.example'],
  ])('of %s is %s', (url, shape) => {
    expect(pageShape(url)).toBe(shape);
  });
});

describe('the step of a plan', () => {
  const accounts = (url: string, ...labels: string[]) =>
    page('choice', { url, choices: labels.map((label) => choice('account', label)) });
  const find = (steps: PlanStep[], reading = LOGIN_PAGE) => stepFor([plan('flow_1', steps)], reading, NOTHING_KNOWN);

  it('is the one whose fields are all present', () => {
    const names = { refs: ['username', 'password'] };
    const form = page('form', { fields: [field('text', 'username'), field('password', 'password')] });
    expect(find([step(names)], form)?.step.fields).toHaveLength(2);
    expect(find([step({ refs: ['username', 'branch'] })], form)).toBeNull();
    expect(find([step({ external: true })], form)).toBeNull();
  });

  it('is the one whose choice is offered once, preferring this page and later steps', () => {
    const steps = [step({ took: 'Ann' }), step({ took: 'Ben' }), step({ took: 'Cleo', page: `${LOGIN}/two` })];
    expect(find(steps, accounts(LOGIN, 'Ann', 'Ben', 'Cleo'))?.choice?.label).toBe('Ben');
    expect(find(steps, accounts(LOGIN, 'Ann', 'Cleo'))?.choice?.label).toBe('Ann');
    expect(find(steps, accounts(`${LOGIN}/three`, 'Cleo', 'Dora'))?.choice?.label).toBe('Cleo');
    expect(find(steps, accounts(LOGIN, 'Ben', 'Ben'))).toBeNull();
  });

  it('is a consent if the same page asks the same in the same words, but no other agreement', () => {
    const asks = (description: string | null, url = LOGIN) =>
      page('choice', { url, choices: [{ ...choice('other', 'Allow'), description }, choice('other', 'Cancel')] });
    const allowed = { type: 'other', label: 'Allow', masked_destination: null, answered_by: 'person' } as const;
    const consent = [step({ choice: { ...allowed, description: 'Portal wants to access your name' } })];
    expect(find(consent, asks('Portal wants to access your name'))?.choice?.label).toBe('Allow');
    expect(find(consent, asks('Portal wants to access your files'))).toBeNull();
    expect(find(consent, asks('Portal wants to access your name', `${LOGIN}/elsewhere`))).toBeNull();
    expect(find([step({ choice: allowed })], asks(null))).toBeNull();
    const again = asks('Portal wants to access your name');
    const withBoxes = again.choices.map((each) => ({ ...each, ticks: [{ selector: '#terms', frame: [] }] }));
    expect(find(consent, { ...again, choices: withBoxes })).toBeNull();
  });

  it('is the device picked beside its code field, before the code', () => {
    const devices = [choice('mfa_method', 'phone'), choice('mfa_method', 'tablet')];
    const asks = page('form', { fields: [field('totp_code', 'otp')], choices: devices });
    const tablet = { type: 'mfa_method', label: 'tablet', masked_destination: null, answered_by: 'person' } as const;
    const code = step({ refs: ['otp'] });
    const typed = { ...code, fields: code.fields.map((each) => ({ ...each, ref: 'code' })) };
    const names = step({ refs: ['user', 'password'] });
    expect(find([names, step({ choice: tablet }), typed], asks)?.choice?.label).toBe('tablet');
    expect(find([names, typed], asks)).toMatchObject({ choice: null, step: { fields: [{ ref: 'code' }] } });
    const withoutIt = { ...asks, choices: devices.slice(0, 1) };
    expect(find([names, step({ choice: tablet }), typed], withoutIt)?.choice).toBeNull();
  });

  it('comes from the first plan that has one', () => {
    const plans = [plan('flow_2', [step({ took: 'Dora' })]), plan('flow_1', [step({ took: 'Ann' })])];
    expect(stepFor(plans, accounts(LOGIN, 'Ann'), NOTHING_KNOWN)?.planId).toBe('flow_1');
  });
});

describe('the steps of a login', () => {
  it('keep the accepted answer, with the fields that only the rejected one had', () => {
    const first = step({ refs: ['user', 'password'] });
    const second = step({ refs: ['password'] });
    expect(addStep([first], second, false)).toEqual([first, second]);
    expect(addStep([first], second, true).map(({ fields }) => fields.map(({ ref }) => ref))).toEqual([
      ['user', 'password'],
    ]);
    expect(addStep([first], step({ page: `${LOGIN}/other`, took: 'Ann' }), true)).toHaveLength(1);
    expect(addStep([step({ took: 'Ann' })], step({ took: 'Ann' }), false)).toHaveLength(1);
  });
});

describe('the plans of a connection', () => {
  const form = step({ refs: ['user', 'password'] });
  const walked = (id: string, steps: PlanStep[]) => ({ id, credential_id: 'cred_1', steps });

  it('are kept newest first, with pickers that may be shown again', () => {
    const before = rememberPlan([], walked('flow_1', [form, step({ took: 'Ann' }), step({ refs: ['code'] })]));
    const [only, ...none] = rememberPlan(before, walked('flow_2', [form]));
    expect(none).toEqual([]);
    expect(only).toMatchObject({ id: 'flow_2', credential_id: 'cred_1', steps: [form, { choice: { label: 'Ann' } }] });
    const two = rememberPlan(before, walked('flow_3', [step({ took: 'GitHub' })]));
    expect(two.map(({ id }) => id)).toEqual(['flow_3', 'flow_1']);
    const pages = ['a', 'b', 'c', 'd'].map((name) => step({ page: `${LOGIN}/${name}`, took: name }));
    const all = pages.reduce<LoginPlan[]>(
      (known, each, index) => rememberPlan(known, walked(`flow_${String(index)}`, [each])),
      [],
    );
    expect(all.map(({ id }) => id)).toEqual(['flow_3', 'flow_2', 'flow_1']);
  });

  it('are followed until they have failed twice', () => {
    const once = notePlanFailure([plan('flow_1', [form]), plan('flow_2', [form])], 'flow_1', null);
    expect(once.map(isViable)).toEqual([true, true]);
    expect(notePlanFailure(once, 'flow_1', null).map(isViable)).toEqual([false, true]);
  });

  it('are converted from older rows', () => {
    const fields = [
      { ...field('identifier', 'user'), step: 1 },
      { ...field('password', 'pass'), step: 1, ref: 'password' },
      { ...field('code', 'otp'), step: 2 },
    ];
    const choices = [{ type: 'account', label: 'Ann', masked_destination: null }] as const;
    const [made] = plansOf({ requirements: { fields, choices: [...choices], externalAction: true } });
    expect(made?.steps.map((each) => [each.fields.map(({ ref }) => ref), each.choice?.label, each.external])).toEqual([
      [[], 'Ann', false],
      [['username', 'password'], undefined, false],
      [['code'], undefined, false],
      [[], undefined, true],
    ]);
    expect(plansOf({ requirements: null })).toEqual([]);
    expect(plansOf({ plans: [], requirements: { fields, externalAction: false } })).toEqual([]);
  });
});
