import { describe, expect, it } from 'vitest';
import type { CredentialFacts } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import {
  asksForCode,
  choiceFingerprint,
  decide,
  fingerprintOf,
  MAX_ENTRIES,
  type LastEntry,
  type Situation,
} from '../../workflows/policy/decide.ts';
import { NOTHING_KNOWN } from '../../workflows/policy/field-refs.ts';
import { identifyChoices, presentInteraction } from '../../workflows/policy/interaction.ts';
import { choice, CODE_PAGE, field, INSIDE, LOGIN_PAGE, page } from './scripted-world.ts';

const STORED: CredentialFacts = {
  id: 'cred_1',
  version: 3,
  valueKeys: ['username', 'password'],
  hasTotpSecret: false,
  ssoProvider: null,
};

function situation(
  reading: PageReading,
  more: Partial<Situation> = {},
  credential: CredentialFacts | null = null,
): Situation {
  return {
    mode: 'attended',
    observation: { reading, credential },
    last: null,
    refused: null,
    refusedCodes: null,
    codeRefusals: 0,
    rejections: 0,
    entered: 0,
    taken: [],
    fields: NOTHING_KNOWN,
    ...more,
  };
}

function entered(by: LastEntry['by'], reading: PageReading, certain = true): LastEntry {
  const types = reading.fields.map(({ type }) => type);
  return {
    by,
    fingerprint: fingerprintOf(reading.fields),
    typed: { password: types.includes('password'), code: types.some(asksForCode), totp: types.includes('totp_code') },
    certain,
  };
}

describe('what a login does next', () => {
  it('finishes on a page that shows a signed-in visitor', () => {
    expect(decide(situation(INSIDE))).toEqual({ do: 'finish' });
  });

  it('asks a person for what nobody has stored', () => {
    expect(decide(situation(LOGIN_PAGE))).toMatchObject({
      do: 'ask',
      question: {
        fields: [
          { id: 'field_user', reason: 'missing' },
          { id: 'field_password', reason: 'missing' },
        ],
        known: [],
      },
    });
  });

  it('enters a stored credential, and asks only for the rest of a form', () => {
    expect(decide(situation(LOGIN_PAGE, {}, STORED))).toMatchObject({
      do: 'enter',
      answer: { entries: [{ source: { kind: 'credential', key: 'username' } }, { source: { key: 'password' } }] },
    });
    const part = { ...STORED, valueKeys: ['username'] };
    expect(decide(situation(LOGIN_PAGE, {}, part))).toMatchObject({
      do: 'ask',
      question: { fields: [{ id: 'field_password' }], known: [{ ref: 'username' }] },
    });
  });

  it('answers an authenticator code by the secret, a sent code by nobody but the person', () => {
    const totp = page('form', { fields: [field('totp_code', 'otp')] });
    expect(decide(situation(totp, {}, { ...STORED, hasTotpSecret: true }))).toMatchObject({
      do: 'enter',
      answer: { entries: [{ source: { kind: 'totp' } }] },
    });
    expect(decide(situation(CODE_PAGE, {}, { ...STORED, hasTotpSecret: true }))).toMatchObject({ do: 'ask' });
  });

  it('never types a refused password of the credential again', () => {
    const last = entered('credential', LOGIN_PAGE);
    const refusedNow = situation({ ...LOGIN_PAGE, website_error: 'Wrong.' }, { last }, STORED);
    expect(decide(refusedNow)).toMatchObject({
      do: 'ask',
      question: { known: [], fields: [{}, { reason: 'rejected' }] },
    });
    expect(decide({ ...refusedNow, mode: 'unattended' })).toMatchObject({ do: 'fail', code: 'credentials_invalid' });
    const later = situation(LOGIN_PAGE, { refused: { credentialId: 'cred_1', version: 3 } }, STORED);
    expect(decide({ ...later, mode: 'unattended' })).toMatchObject({ do: 'fail', code: 'credentials_invalid' });
    const changed = situation(LOGIN_PAGE, { refused: { credentialId: 'cred_1', version: 2 } }, STORED);
    expect(decide(changed)).toMatchObject({ do: 'enter' });
  });

  it('types nothing unseen after an entering whose end is unknown', () => {
    const last = entered('credential', LOGIN_PAGE, false);
    expect(decide(situation(LOGIN_PAGE, { last }, STORED))).toMatchObject({ do: 'ask', question: { known: [] } });
    expect(decide(situation(LOGIN_PAGE, { last, mode: 'unattended' }, STORED))).toMatchObject({
      code: 'browser_error',
    });
  });

  it('presses what only leads on, once, and leaves to a person what agrees to something', () => {
    const onward = { ...choice('other', 'Not now'), agrees_to_nothing: true };
    const later = page('choice', { choices: [choice('other', 'Add a phone'), onward] });
    const terms = page('choice', { choices: [choice('other', 'I agree')] });
    const unattended = { mode: 'unattended' } as const;
    expect(decide(situation(later, unattended))).toMatchObject({
      do: 'enter',
      answer: { choice: { label: 'Not now' } },
    });
    const last = { ...entered('person', later), fingerprint: choiceFingerprint(later.choices) };
    expect(decide(situation(later, { last }))).toMatchObject({ do: 'ask' });
    expect(decide(situation(terms))).toMatchObject({ do: 'ask' });
    expect(decide(situation(terms, unattended))).toMatchObject({ do: 'fail', code: 'customer_input_required' });
  });

  it.each([
    ['captcha', 'captcha_blocked'],
    ['blocked', 'bot_detected'],
    ['unavailable', 'network_error'],
    ['passkey', 'unsupported_auth_method'],
    ['http_login', 'unsupported_auth_method'],
    ['password_change', 'website_error'],
    ['other', 'login_form_not_found'],
  ] as const)('ends at a page that is %s', (kind, code) => {
    expect(decide(situation(page(kind)))).toMatchObject({ do: 'fail', code });
  });

  it.each([
    [page('form', { fields: [field('totp_code', 'otp')] }), 'totp_required'],
    [CODE_PAGE, 'sms_code_required'],
    [page('form', { fields: [field('code', 'code', { channel: 'email' })] }), 'email_code_required'],
    [page('form', { fields: [field('code', 'code', { channel: 'call' })] }), 'customer_input_required'],
    [page('form', { fields: [field('code', 'code', { channel: 'unknown' })] }), 'customer_input_required'],
    [page('form', { fields: [field('text', 'customer_number')] }), 'customer_input_required'],
    [page('external_action'), 'external_action_required'],
    [page('choice', { choices: [choice('mfa_method', 'Text', { mfa_type: 'sms' })] }), 'mfa_required'],
    [page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Ben')] }), 'account_choice_required'],
  ])('says what it lacks when nobody is there (%#)', (reading, code) => {
    expect(decide(situation(reading, { mode: 'unattended' }, STORED))).toMatchObject({ do: 'fail', code });
  });

  it('tries the saved secret once on a code field that says nothing of where its code comes from', () => {
    const code = page('form', { fields: [field('code', 'code', { channel: 'unknown' })] });
    const withSecret = { ...STORED, hasTotpSecret: true };
    expect(decide(situation(code, {}, withSecret))).toMatchObject({
      do: 'enter',
      answer: { entries: [{ source: { kind: 'totp' } }] },
    });
    const last = { ...entered('credential', code), typed: { password: false, code: true, totp: true } };
    expect(decide(situation(code, { last }, withSecret))).toMatchObject({ do: 'ask' });
    expect(decide(situation(CODE_PAGE, {}, withSecret))).toMatchObject({ do: 'ask' });
  });

  it('takes a code for refused that is asked for again, though the page no longer says whose', () => {
    const asked = page('form', { fields: [field('totp_code', 'token')] });
    const again = page('form', { fields: [field('code', 'token', { channel: 'unknown' })] });
    expect(decide(situation(again, { last: entered('person', asked) }))).toMatchObject({
      do: 'ask',
      question: { fields: [{ reason: 'rejected' }] },
    });
  });

  it('takes the way that the credential can go', () => {
    const ways = page('choice', {
      choices: [choice('mfa_method', 'Text', { mfa_type: 'sms' }), choice('mfa_method', 'App', { mfa_type: 'totp' })],
    });
    expect(decide(situation(ways, {}, { ...STORED, hasTotpSecret: true }))).toMatchObject({
      do: 'enter',
      answer: { choice: { label: 'App' } },
    });
    const sso = { ...LOGIN_PAGE, choices: [choice('sso_provider', 'Continue with Google', { provider: 'google' })] };
    expect(decide(situation(sso, {}, { ...STORED, ssoProvider: 'Google' }))).toMatchObject({
      do: 'enter',
      answer: { choice: { provider: 'google' } },
    });
  });

  it('tells phones of one person apart, and a code by the phone that was chosen', () => {
    const phone = (to: string) => choice('mfa_method', 'Text message', { mfa_type: 'sms', masked_destination: to });
    const ids = (...to: string[]): string[] => identifyChoices(to.map(phone)).map(({ id }) => id);
    expect(ids('••15', '••27')).toEqual(ids('••27', '••15').reverse());
    expect(new Set(ids('••15', '••27')).size).toBe(2);
    expect(choiceFingerprint([phone('••15')])).not.toBe(choiceFingerprint([phone('••27')]));
    const unsaid = page('form', { fields: [field('code', 'code', { channel: 'unknown' })] });
    const last = { ...entered('person', unsaid), fingerprint: '', method: 'sms' } as const;
    const decision = decide(situation(unsaid, { last }, { ...STORED, hasTotpSecret: true }));
    expect(decision).toMatchObject({ do: 'ask', question: { fields: [{ field: { channel: 'sms' } }] } });
    expect(decide(situation(unsaid, { last, mode: 'unattended' }, STORED))).toMatchObject({
      do: 'fail',
      code: 'sms_code_required',
    });
  });

  it('offers a method without a type of its own as a sign-in option, never as a switch', () => {
    const shown = presentInteraction('int_1', [], identifyChoices([choice('mfa_method', 'Backup code')]));
    expect(shown).toMatchObject({ mfa_options: [], sign_in_options: [{ label: 'Backup code' }] });
  });

  it.each([
    ['account_locked', /locked the account/],
    ['rate_limited', /no more attempts/],
  ] as const)('leaves a site alone that is %s, whoever is there', (why, words) => {
    const shut = { ...LOGIN_PAGE, website_error: 'No.', lock_out: why };
    for (const mode of ['attended', 'unattended'] as const)
      expect(decide(situation(shut, { mode }, STORED))).toMatchObject({
        do: 'fail',
        code: 'max_attempts_reached',
        message: expect.stringMatching(words) as string,
      });
  });

  it('tries the next code of the saved secret after one that was refused, and no third', () => {
    const code = page('form', { fields: [field('totp_code', 'otp')] });
    const withSecret = { ...STORED, hasTotpSecret: true };
    const last = entered('credential', code);
    const after = (codeRefusals: number, more: Partial<Situation> = {}) =>
      decide(situation(code, { last, codeRefusals, mode: 'unattended', ...more }, withSecret));
    expect(after(1)).toMatchObject({ do: 'enter', answer: { entries: [{ source: { kind: 'totp' } }] } });
    expect(after(2)).toMatchObject({ do: 'fail', code: 'totp_code_rejected' });
    expect(after(1, { mode: 'attended', last: { ...last, by: 'person' } })).toMatchObject({ do: 'ask' });
    const both = { ...last, typed: { ...last.typed, password: true } };
    expect(after(1, { last: both })).toMatchObject({ do: 'fail' });
    const refusedCodes = { credentialId: 'cred_1', version: 3 };
    expect(after(0, { last: null, refusedCodes })).toMatchObject({
      do: 'fail',
      code: 'totp_code_rejected',
    });
    expect(after(0, { last: null, refusedCodes: { ...refusedCodes, version: 2 } })).toMatchObject({ do: 'enter' });
  });

  it('waits for a push beside a field for a code, and offers the field meanwhile', () => {
    const push = page('external_action', { fields: [field('totp_code', 'otp')] });
    expect(decide(situation(push, {}, STORED))).toMatchObject({
      do: 'wait',
      question: { fields: [{ ref: 'code', reason: 'missing' }], submit: { selector: '#go' } },
    });
    const last = { ...entered('person', push), typed: { password: false, code: true, totp: false } };
    expect(decide(situation(push, { last }, STORED))).toMatchObject({ question: { fields: [{ reason: 'rejected' }] } });
    const withSecret = { ...STORED, hasTotpSecret: true };
    expect(decide(situation(push, { mode: 'unattended' }, withSecret))).toMatchObject({ do: 'enter' });
    expect(decide(situation(push, { mode: 'unattended' }, STORED))).toMatchObject({ code: 'external_action_required' });
  });

  it('takes the account that the last login took, with nobody there, once, and never agrees to something again', () => {
    const accounts = page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Ben')] });
    const taken = [{ type: 'account', label: 'Ben', masked_destination: null }] as const;
    const unattended = { mode: 'unattended', taken } as const;
    expect(decide(situation(accounts, unattended, STORED))).toMatchObject({
      do: 'enter',
      answer: { choice: { label: 'Ben' } },
    });
    expect(decide(situation(accounts, { taken }, STORED))).toMatchObject({ do: 'ask' });
    const last = { ...entered('person', accounts), fingerprint: choiceFingerprint(accounts.choices) };
    expect(decide(situation(accounts, { ...unattended, last }, STORED))).toMatchObject({
      code: 'account_choice_required',
    });
    const gone = page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Cleo')] });
    expect(decide(situation(gone, unattended, STORED))).toMatchObject({ code: 'account_choice_required' });
    const terms = page('choice', { choices: [choice('other', 'I agree')] });
    const agreed = [{ type: 'other', label: 'I agree', masked_destination: null }] as const;
    expect(decide(situation(terms, { mode: 'unattended', taken: agreed }, STORED))).toMatchObject({
      code: 'customer_input_required',
    });
  });

  it('stops a login that goes on for ever', () => {
    expect(decide(situation(LOGIN_PAGE, { entered: MAX_ENTRIES }))).toMatchObject({ code: 'max_steps_exceeded' });
    expect(decide(situation(LOGIN_PAGE, { rejections: 6 }))).toMatchObject({ code: 'max_attempts_reached' });
  });
});
