import { describe, expect, it } from 'vitest';
import type { CredentialFacts } from '../../contract/activities.ts';
import type { CodeChannel } from '../../contract/reading.ts';
import { backOffAfter, isBackingOff, withBackOff } from '../../workflows/policy/intervals.ts';
import { field } from './scripted-world.ts';
import { evaluateReauthGate, obstacleOf, type GateInput } from '../../workflows/policy/reauth-gate.ts';

const CREDENTIAL: CredentialFacts = {
  id: 'cred_1',
  version: 3,
  valueKeys: ['username', 'password'],
  hasTotpSecret: false,
  ssoProvider: null,
};
const AT_3 = { credentialId: 'cred_1', version: 3 };

function gate(more: Partial<GateInput> = {}) {
  return evaluateReauthGate({
    hadLogin: true,
    reference: { name: 'saved' },
    credential: CREDENTIAL,
    refused: null,
    refusedCodes: null,
    obstacle: null,
    requirements: { fields: [], externalAction: false },
    ...more,
  });
}

describe('the gate after a REAUTH that met what it could not answer', () => {
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
    ['max_attempts_reached', 'requires_customer_input'],
  ] as const)('is closed by %s as %s', (code, reason) => {
    expect(obstacleOf(code)).toBe(reason);
    expect(gate({ obstacle: { reason, credential: AT_3 } })).toEqual({ canReauth: false, reason });
  });

  it.each(['network_error', 'browser_error', 'bot_detected', 'captcha_blocked', 'stuck_in_loop'] as const)(
    'stays open after %s, which may pass',
    (code) => {
      expect(obstacleOf(code)).toBeNull();
    },
  );

  it('opens when the credential has changed, or another one is attached', () => {
    const obstacle = { reason: 'requires_totp_without_secret', credential: AT_3 } as const;
    expect(gate({ obstacle, credential: { ...CREDENTIAL, version: 4 } }).canReauth).toBe(true);
    expect(gate({ obstacle, credential: { ...CREDENTIAL, id: 'cred_2', version: 1 } }).canReauth).toBe(true);
  });

  it('stays closed when it is not known which version was tried', () => {
    const obstacle = { reason: 'requires_sms_code', credential: null } as const;
    expect(gate({ obstacle, credential: { ...CREDENTIAL, version: 9 } }).canReauth).toBe(false);
  });
});

describe('the gate before a code', () => {
  const asks = (type: 'code' | 'totp_code', channel: CodeChannel) => ({
    requirements: {
      fields: [{ type, channel, discovered_type: 'code' as const, name: 'token', label: 'Token', hint: null }],
      externalAction: false,
    },
  });

  it('opens where the saved secret is tried, and stays closed before one that is sent', () => {
    const credential = { ...CREDENTIAL, hasTotpSecret: true };
    expect(gate({ ...asks('code', 'unknown'), credential }).canReauth).toBe(true);
    expect(gate(asks('code', 'unknown'))).toEqual({ canReauth: false, reason: 'requires_customer_input' });
    expect(gate({ ...asks('code', 'sms'), credential })).toEqual({ canReauth: false, reason: 'requires_sms_code' });
  });
});

describe('the reason of the gate', () => {
  const took = (type: 'code' | 'totp_code' | 'text', channel?: 'sms' | 'email' | 'call' | 'unknown') => ({
    requirements: {
      fields: [{ ...field(type, 'x', channel === undefined ? {} : { channel }), ref: 'x', step: 1 }],
      externalAction: false,
    },
  });
  it.each<[string, Partial<GateInput>]>([
    ['no_prior_successful_login', { hadLogin: false, reference: undefined }],
    ['no_credential', { reference: undefined }],
    ['no_credential', { credential: null }],
    ['no_credential', { credential: { ...CREDENTIAL, valueKeys: [] } }],
    ['external_credential', { reference: { provider: 'vault', auto: true }, credential: null }],
    ['external_credential', { reference: { provider: 'vault', auto: true }, requirements: null }],
    ['requires_customer_input', { refused: AT_3, requirements: null }],
    ['no_requirements_recorded', { requirements: null }],
    ['requires_external_action', { requirements: { fields: [], externalAction: true } }],
    ['requires_totp_without_secret', took('totp_code')],
    ['requires_sms_code', took('code', 'sms')],
    ['requires_email_code', took('code', 'email')],
    ['requires_customer_input', took('code', 'call')],
    ['requires_customer_input', took('code', 'unknown')],
    ['requires_customer_input', took('text')],
    ['requirements_satisfiable', {}],
  ])('is %s (%#)', (reason, facts) => {
    const may = ['external_credential', 'no_requirements_recorded', 'requirements_satisfiable'].includes(reason);
    expect(gate(facts)).toEqual({ canReauth: may, reason });
  });
});

describe('the gate after codes that were refused', () => {
  const totp = { ...field('totp_code', 'otp'), ref: 'code', step: 2 };
  const requirements = { fields: [totp], externalAction: false };
  const credential = { ...CREDENTIAL, hasTotpSecret: true };

  it('is closed until the credential changes', () => {
    expect(gate({ requirements, credential }).canReauth).toBe(true);
    expect(gate({ requirements, credential, refusedCodes: AT_3 })).toEqual({
      canReauth: false,
      reason: 'requires_customer_input',
    });
    expect(gate({ requirements, credential: { ...credential, version: 4 }, refusedCodes: AT_3 }).canReauth).toBe(true);
  });
});

describe('the back-off of a REAUTH that fails', () => {
  const NOW = Date.parse('2026-01-01T00:00:00Z');
  const pauses = (interval: number, failures: number): number[] => {
    let backOff = backOffAfter(null, AT_3, interval, NOW);
    const all = [backOff];
    while (all.length < failures) all.push((backOff = backOffAfter(backOff, AT_3, interval, NOW)));
    // A check may come a tenth early, and is to find the pause over.
    return all.map(({ nextAt }) => Math.round((Date.parse(nextAt) - NOW) / 900));
  };

  it('begins at the check interval, doubles, and is never longer than a day', () => {
    expect(pauses(300, 10)).toEqual([300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 76_800, 86_400]);
    expect(pauses(86_400, 2)).toEqual([86_400, 86_400]);
  });

  it('lasts until its time, or until the credential changes', () => {
    const backOff = backOffAfter(null, AT_3, 300, NOW);
    expect(isBackingOff(backOff, CREDENTIAL, NOW + 269_000)).toBe(true);
    expect(isBackingOff(backOff, CREDENTIAL, NOW + 270_000)).toBe(false);
    expect(isBackingOff(backOff, { ...CREDENTIAL, version: 4 }, NOW)).toBe(false);
    expect(isBackingOff(null, CREDENTIAL, NOW)).toBe(false);
  });

  it('counts anew for a credential that has changed', () => {
    const third = backOffAfter({ failures: 2, nextAt: '', credential: AT_3 }, AT_3, 300, NOW);
    expect(third.failures).toBe(3);
    expect(backOffAfter(third, { ...AT_3, version: 4 }, 300, NOW).failures).toBe(1);
  });

  it('is told with its count and its end', () => {
    const backOff = backOffAfter({ failures: 1, nextAt: '', credential: AT_3 }, AT_3, 1000, NOW);
    expect(withBackOff('The site is down', backOff)).toBe(
      'The site is down. Logging in again has failed 2 times in a row; the next try is due at 2026-01-01T00:30:00.000Z',
    );
  });
});
