import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CredentialFacts } from '../../contract/activities.ts';
import { CanReauthReason, type FlowErrorCode } from '../../contract/connections.ts';
import type { LoginPlan, PlanStep } from '../../contract/login-plan.ts';
import type { CodeChannel, ReadField } from '../../contract/reading.ts';
import { commonRef } from '../../workflows/policy/field-refs.ts';
import { backOffAfter, isBackingOff, withBackOff } from '../../workflows/policy/back-off.ts';
import { field } from './scripted-world.ts';
import { evaluateReauthGate, followablePlans, obstacleOf, type GateInput } from '../../workflows/policy/reauth-gate.ts';

const CREDENTIAL: CredentialFacts = {
  id: 'cred_1',
  version: 3,
  valueKeys: ['username', 'password'],
  hasTotpSecret: false,
  ssoProvider: null,
};
const AT_3 = { credentialId: 'cred_1', version: 3 };

const USER = field('identifier', 'user', { label: 'User name' });
const PASSWORD = field('password', 'password');

type Answered = ReadField & { by?: 'person' };

/** A plan with one page per list of fields; `by` who gave a value, the credential by default. */
function plan(pages: Answered[][] = [[USER, PASSWORD]], more: Partial<LoginPlan> = {}): LoginPlan {
  const steps = pages.map((fields, index): PlanStep => {
    const named = fields.map(({ by, ...rest }) => ({
      ...rest,
      ref: commonRef(rest),
      answered_by: by ?? ('credential' as const),
    }));
    return { page: `https://site.example/${String(index)}`, fields: named, choice: null, external: false };
  });
  return { id: 'flow_1', credential_id: 'cred_1', steps, failures: { count: 0, credential: null }, ...more };
}

function gate(more: Partial<GateInput> = {}) {
  return evaluateReauthGate({
    hadLogin: true,
    reference: { name: 'saved' },
    credential: CREDENTIAL,
    refused: null,
    refusedCodes: null,
    obstacle: null,
    isUnread: false,
    plans: [plan()],
    codeChannels: [],
    ...more,
  });
}

describe('the gate after a REAUTH met an obstacle', () => {
  it.each([
    ['totp_required', 'requires_totp_without_secret'],
    ['sms_code_required', 'requires_sms_code'],
    ['email_code_required', 'requires_email_code'],
    ['external_action_required', 'requires_external_action'],
    ['unsupported_auth_method', 'requires_external_action'],
    ['mfa_required', 'requires_customer_input'],
    ['account_choice_required', 'requires_customer_input'],
    ['customer_input_required', 'requires_customer_input'],
    ['credentials_invalid', 'requires_customer_input'],
    ['totp_code_rejected', 'requires_customer_input'],
    ['account_mismatch', 'requires_customer_input'],
    ['max_attempts_reached', 'requires_customer_input'],
  ] as const)('is closed by %s with the reason %s', (code, reason) => {
    expect(obstacleOf(code)).toBe(reason);
    expect(gate({ obstacle: { reason, credential: AT_3 } })).toEqual({ canReauth: false, reason });
  });

  it.each(['network_error', 'browser_error', 'bot_detected', 'captcha_blocked', 'stuck_in_loop'] as const)(
    'stays open after %s, which may be temporary',
    (code) => {
      expect(obstacleOf(code)).toBeNull();
    },
  );

  it('opens if the credential has changed or was replaced', () => {
    const obstacle = { reason: 'requires_totp_without_secret', credential: AT_3 } as const;
    expect(gate({ obstacle, credential: { ...CREDENTIAL, version: 4 } }).canReauth).toBe(true);
    expect(gate({ obstacle, credential: { ...CREDENTIAL, id: 'cred_2', version: 1 } }).canReauth).toBe(true);
  });

  it('stays closed if it is unknown which version was tried', () => {
    const obstacle = { reason: 'requires_sms_code', credential: null } as const;
    expect(gate({ obstacle, credential: { ...CREDENTIAL, version: 9 } }).canReauth).toBe(false);
  });
});

describe('the reason of the gate', () => {
  const code = (channel: CodeChannel, by?: 'person'): Answered => ({
    ...field('code', 'token', { channel }),
    ...(by === undefined ? {} : { by }),
  });
  const totp = field('totp_code', 'otp');
  const elsewhere: PlanStep = { page: 'https://site.example/wait', fields: [], choice: null, external: true };
  const after = (...pages: Answered[][]) => [plan([[USER, PASSWORD], ...pages])];
  const github = { type: 'sso_provider', label: 'GitHub', provider: 'GitHub', masked_destination: null } as const;
  const chosen: PlanStep = {
    page: 'https://site.example/login',
    fields: [],
    choice: { ...github, answered_by: 'person' },
    external: false,
  };
  const atProvider = plan([], {
    steps: [chosen, ...plan().steps.map((step) => ({ ...step, page: 'https://github.com/login' }))],
  });
  const failed = (count: number, version = 3) =>
    plan(undefined, { failures: { count, credential: { ...AT_3, version } } });
  const byModel = plan([], { steps: plan().steps.map((step) => ({ ...step, by_model: true as const })) });
  const vault = { provider: 'vault', auto: true };
  const withSecret = { ...CREDENTIAL, hasTotpSecret: true };

  it.each<[boolean, CanReauthReason, string, Partial<GateInput>]>([
    [false, 'no_prior_successful_login', 'nobody has logged in', { hadLogin: false }],
    [false, 'no_prior_successful_login', 'not even a credential is there', { hadLogin: false, reference: undefined }],
    [false, 'no_credential', 'none is attached', { reference: undefined }],
    [false, 'no_credential', 'it is gone', { credential: null }],
    [false, 'no_credential', 'it is empty', { credential: { ...CREDENTIAL, valueKeys: [] } }],
    [true, 'external_credential', 'nobody has asked its store', { reference: vault, credential: null, isUnread: true }],
    [true, 'external_credential', 'it answers the plan from its store', { reference: vault }],
    [true, 'external_credential', 'the site asked for nothing', { reference: vault, plans: [] }],
    [
      false,
      'requires_sms_code',
      'what it lacks tells more than where it lies',
      { reference: vault, plans: after([code('sms')]) },
    ],
    [true, 'has_credential', 'it is still to be read', { credential: null, isUnread: true }],
    [true, 'has_credential', 'it has changed since every plan failed', { plans: [failed(2, 2)] }],
    [false, 'requires_customer_input', 'its password was refused', { refused: AT_3 }],
    [true, 'no_requirements_recorded', 'no login has left a plan', { plans: [] }],
    [true, 'cua_has_credential', 'a model has to choose a form', { plans: [byModel] }],
    [
      true,
      'requirements_satisfiable',
      'its passkey stands for password and code',
      { plans: after([code('sms')]), credential: { ...CREDENTIAL, valueKeys: [], hasPasskey: true } },
    ],
    [true, 'viable_plans_found', 'it answers a plan', {}],
    [true, 'viable_plans_found', 'it answers a plan that failed once', { plans: [failed(1)] }],
    [true, 'viable_plans_found', 'it answers an older plan', { plans: [...after([code('sms')]), plan()] }],
    [true, 'viable_plans_found', 'its secret gave the code', { credential: withSecret, plans: after([totp]) }],
    [
      true,
      'viable_plans_found',
      'it is of the provider',
      { plans: [atProvider], credential: { ...CREDENTIAL, ssoProvider: 'github' } },
    ],
    [
      true,
      'requirements_satisfiable',
      'the plan was walked without it',
      { plans: [plan(undefined, { credential_id: null })] },
    ],
    [
      true,
      'requirements_satisfiable',
      'a person typed the code',
      { credential: withSecret, plans: after([{ ...totp, by: 'person' }]) },
    ],
    [
      true,
      'requirements_satisfiable',
      'its secret may give the code',
      { credential: withSecret, plans: after([code('unknown', 'person')]) },
    ],
    [false, 'no_viable_plans', 'every plan has failed twice', { plans: [failed(2), failed(3)] }],
    [
      false,
      'viable_plans_require_external_action',
      'the plan took a push',
      { plans: [plan([], { steps: [...plan().steps, elsewhere] })] },
    ],
    [
      false,
      'requires_external_action',
      'REAUTH stood before a push',
      { obstacle: { reason: 'requires_external_action', credential: AT_3 } },
    ],
    [false, 'requires_totp_without_secret', 'there is no secret', { plans: after([totp]) }],
    [
      false,
      'requires_customer_input',
      'codes of its secret were refused',
      { credential: withSecret, refusedCodes: AT_3, plans: after([totp]) },
    ],
    [
      false,
      'requires_sms_code',
      'the plan took a text message',
      { credential: withSecret, plans: after([code('sms')]) },
    ],
    [false, 'requires_email_code', 'the plan took an e-mail', { plans: after([code('email')]) }],
    [false, 'requires_customer_input', 'the plan took a call', { plans: after([code('call')]) }],
    [false, 'requires_customer_input', 'the code is of nobody knows where', { plans: after([code('unknown')]) }],
    [false, 'requires_customer_input', 'it lacks a value', { plans: after([field('text', 'branch')]) }],
    [false, 'requires_customer_input', "it is not the provider's", { plans: [atProvider] }],
    [
      false,
      'requires_customer_input',
      'a plan that can not be answered is left',
      { plans: [failed(2), plan([[field('text', 'branch')]])] },
    ],
  ])('%s: is %s when %s', (canReauth, reason, _when, facts) => {
    expect(gate(facts)).toEqual({ canReauth, reason });
  });

  it('has a row for every reason of the interface', () => {
    const said = new Set<string>();
    const table = readFileSync(new URL('../../workflows/policy/reauth-gate.ts', import.meta.url), 'utf8');
    for (const [, word] of table.matchAll(/^ \* \|.*\| `(\w+)` +\| (?:yes|no) +\|$/gm)) said.add(word ?? '');
    expect([...said].sort()).toEqual([...CanReauthReason.options].sort());
  });

  it('lets a REAUTH follow only plans that the credential can answer', () => {
    const plans = [failed(2), plan([[field('text', 'branch')]], { id: 'flow_2' }), plan(undefined, { id: 'flow_3' })];
    const facts = { reference: { name: 'saved' }, refusedCodes: null, plans, codeChannels: [] };
    expect(followablePlans({ ...facts, credential: CREDENTIAL }).map(({ id }) => id)).toEqual(['flow_3']);
    expect(followablePlans({ ...facts, credential: null }).map(({ id }) => id)).toEqual(['flow_2', 'flow_3']);
  });

  it('opens again if the refused codes belong to an earlier secret', () => {
    const facts = { plans: after([totp]), refusedCodes: AT_3 };
    expect(gate({ ...facts, credential: { ...withSecret, version: 4 } }).canReauth).toBe(true);
  });
});

describe('the back-off of a failed REAUTH', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');
  const pauses = (interval: number, failures: number, code: FlowErrorCode = 'network_error'): number[] => {
    let backOff = backOffAfter(code, null, AT_3, interval, NOW);
    const all = [backOff];
    while (all.length < failures) all.push((backOff = backOffAfter(code, backOff, AT_3, interval, NOW)));
    // A check may come a tenth early, and must then find the pause over.
    return all.map(({ nextAt }) => Math.round((Date.parse(nextAt) - NOW) / 900));
  };

  it('starts at the check interval, doubles, and never exceeds a day', () => {
    expect(pauses(300, 10)).toEqual([300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 76_800, 86_400]);
    expect(pauses(86_400, 2)).toEqual([86_400, 86_400]);
  });

  it('is at least an hour if the password was submitted and the site failed', () => {
    expect(pauses(300, 6, 'website_error')).toEqual([3600, 7200, 14_400, 28_800, 57_600, 86_400]);
    expect(pauses(21_600, 3, 'website_error')).toEqual([21_600, 43_200, 86_400]);
  });

  it('lasts until its time, or until the credential changes', () => {
    const backOff = backOffAfter('network_error', null, AT_3, 300, NOW);
    expect(isBackingOff(backOff, CREDENTIAL, NOW + 269_000)).toBe(true);
    expect(isBackingOff(backOff, CREDENTIAL, NOW + 270_000)).toBe(false);
    expect(isBackingOff(backOff, { ...CREDENTIAL, version: 4 }, NOW)).toBe(false);
    expect(isBackingOff(null, CREDENTIAL, NOW)).toBe(false);
  });

  it('starts over for a changed credential', () => {
    const third = backOffAfter('network_error', { failures: 2, nextAt: '', credential: AT_3 }, AT_3, 300, NOW);
    expect(third.failures).toBe(3);
    expect(backOffAfter('network_error', third, { ...AT_3, version: 4 }, 300, NOW).failures).toBe(1);
  });

  it('is described with its count and its end', () => {
    const backOff = backOffAfter('network_error', { failures: 1, nextAt: '', credential: AT_3 }, AT_3, 1000, NOW);
    expect(withBackOff('The site is down', backOff)).toBe(
      'The site is down. Logging in again has failed 2 times in a row; the next try is due at 2026-01-01T00:30:00.000Z',
    );
  });
});

describe('codes that arrive automatically', () => {
  it.each<[boolean, CodeChannel[], boolean | undefined]>([
    [true, ['email', 'unknown'], true],
    [false, ['sms', 'unknown'], true],
    [false, [], true],
    [false, ['email', 'unknown'], undefined],
  ])('cover a mailed link: %s with %j, if the page waits for one: %s', (canReauth, codeChannels, isLink) => {
    const wait = { page: 'https://site.example/wait', fields: [], choice: null, external: true };
    const step: PlanStep = isLink === true ? { ...wait, mailed_link: true } : wait;
    const plans = [plan([], { steps: [...plan().steps, step] })];
    const reason = canReauth ? 'requirements_satisfiable' : 'viable_plans_require_external_action';
    expect(gate({ plans, codeChannels })).toEqual({ canReauth, reason });
  });

  it.each<[CodeChannel, CodeChannel[], boolean]>([
    ['sms', ['sms'], true],
    ['email', ['sms'], false],
    ['sms', [], false],
    ['unknown', ['sms', 'unknown'], true],
    ['call', ['call'], true],
  ])('by %s, with %j available: %s', (channel, codeChannels, canReauth) => {
    const code = { ...field('code', 'code', { channel }), by: 'person' as const };
    expect(gate({ plans: [plan([[USER, PASSWORD], [code]])], codeChannels }).canReauth).toBe(canReauth);
  });
});
