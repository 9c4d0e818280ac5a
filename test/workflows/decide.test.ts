import { describe, expect, it } from 'vitest';
import type { CredentialFacts } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import { asksForCode } from '../../contract/code-fields.ts';
import { decide, MAX_ENTRIES } from '../../workflows/policy/decide.ts';
import { choiceFingerprint, fingerprintOf, type LastEntry } from '../../workflows/policy/last-entry.ts';
import type { Situation } from '../../workflows/policy/situation.ts';
import type { PlanStep } from '../../contract/login-plan.ts';
import { NOTHING_KNOWN } from '../../workflows/policy/field-refs.ts';
import { identifyChoices, presentInteraction } from '../../workflows/policy/interaction.ts';
import { pageShape, stepFor } from '../../workflows/policy/login-plan.ts';
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
    planned: null,
    codeChannels: [],
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

describe('the next step of a login', () => {
  it('answers a list added to a form that holds its password, and treats the code as unchecked', () => {
    const [user, password, code] = [
      field('identifier', 'username'),
      field('password', 'password'),
      field('totp_code', 'code'),
    ];
    const before = page('form', { fields: [user, password, code] });
    const grown = (held: boolean): PageReading =>
      page('form', {
        fields: [{ ...user, held }, { ...password, held }, field('text', 'otp_device'), code],
        website_error: 'Please select a device.',
      });
    const last = entered('credential', before);
    const asked = decide(situation(grown(true), { last: entered('person', before) }));
    if (asked.do !== 'ask') throw new Error(asked.do);
    expect(asked.question.fields.map(({ field: { name }, reason }) => `${name} ${reason}`)).toEqual([
      'otp_device missing',
      'code missing',
    ]);
    const knowing = { ...STORED, hasTotpSecret: true, valueKeys: ['username', 'password', 'otp_device'] };
    expect(decide(situation(grown(true), { mode: 'unattended', last }, knowing))).toMatchObject({
      do: 'enter',
      answer: { entries: [{ field: { name: 'otp_device' } }, { source: { kind: 'totp' } }] },
    });
    expect(decide(situation(grown(false), { mode: 'unattended', last }, knowing))).toMatchObject({ do: 'fail' });
  });

  it('finishes on a page that shows a signed-in user', () => {
    expect(decide(situation(INSIDE))).toEqual({ do: 'finish' });
  });

  it('signs in with a saved passkey before anything else, once', () => {
    const way = choice('auth_method', 'Sign in with a passkey', { uses: 'passkey' });
    const form = { ...LOGIN_PAGE, choices: [way] };
    const wall = page('passkey', { choices: [way] });
    const withPasskey = { ...STORED, hasPasskey: true };
    for (const mode of ['attended', 'unattended'] as const) {
      expect(decide(situation(form, { mode }, withPasskey))).toMatchObject({ do: 'enter', answer: { choice: way } });
      expect(decide(situation(wall, { mode }, withPasskey))).toMatchObject({ do: 'enter', answer: { choice: way } });
    }
    const last: LastEntry = { ...entered('person', form), fingerprint: choiceFingerprint([way]), passkey: true };
    expect(decide(situation(form, { last }, withPasskey))).toMatchObject({
      do: 'enter',
      answer: { entries: [{ ref: 'username' }, { ref: 'password' }] },
    });
    expect(decide(situation(wall, { last }, withPasskey))).toMatchObject({ code: 'unsupported_auth_method' });
    expect(decide(situation(wall, {}, STORED))).toMatchObject({ code: 'unsupported_auth_method' });
  });

  it('asks a person before a site may create a passkey, and skips it otherwise', () => {
    const create = choice('other', 'Create a passkey', { uses: 'new_passkey' });
    const later = choice('other', 'Not now', { agrees_to_nothing: true });
    const offer = page('choice', { choices: [create, later] });
    expect(decide(situation(offer, { canSave: true }))).toMatchObject({
      do: 'ask',
      question: { choices: [{ id: 'create_passkey' }, { choice: later }] },
    });
    for (const more of [{ mode: 'unattended' as const, canSave: true }, { canSave: false }])
      expect(decide(situation(offer, more))).toMatchObject({ do: 'enter', answer: { choice: later } });
    // Saved to an external secret store only if its item accepts passkeys.
    const taking = { ...STORED, takesPasskeys: true };
    expect(decide(situation(offer, { canSaveExternally: true }, taking))).toMatchObject({ do: 'ask' });
    for (const [more, credential] of [
      [{ canSaveExternally: true }, STORED],
      [{ canSaveExternally: false }, taking],
    ] as const)
      expect(decide(situation(offer, more, credential))).toMatchObject({ do: 'enter', answer: { choice: later } });
  });

  it('has a person solve a captcha on the page, and fails when unattended', () => {
    const puzzle = page('captcha');
    expect(decide(situation(puzzle))).toMatchObject({ do: 'wait', question: { fields: [], choices: [] } });
    expect(decide(situation(puzzle, { mode: 'unattended' }, STORED))).toMatchObject({ code: 'captcha_blocked' });
  });

  it('asks an available solver about a captcha first, once', () => {
    const puzzle = page('captcha');
    for (const mode of ['attended', 'unattended'] as const) {
      const given = situation(puzzle, { mode, canAskSolver: true }, STORED);
      const solvable = { ...given, observation: { ...given.observation, solvable: true as const } };
      expect(decide(solvable)).toEqual({ do: 'solve' });
      const otherwise = { do: mode === 'attended' ? 'wait' : 'fail' };
      expect(decide({ ...solvable, canAskSolver: false })).toMatchObject(otherwise);
      expect(decide(given)).toMatchObject(otherwise);
    }
  });

  describe('at a form with the characters of a picture', () => {
    const characters = field('text', 'captcha', { captcha: true });
    const form = page('form', { fields: [...LOGIN_PAGE.fields, characters] });
    const stored = { ...STORED, valueKeys: [...STORED.valueKeys, 'captcha'] };

    it('asks a person for them, whatever is stored, and enters the rest from the credential', () => {
      const decision = decide(situation(form, {}, stored));
      if (decision.do !== 'ask') throw new Error(decision.do);
      expect(decision.question.fields.map(({ ref, reason }) => `${ref} ${reason}`)).toEqual(['captcha missing']);
      expect(decision.question.known).toHaveLength(2);
    });

    it('types nothing when unattended', () => {
      expect(decide(situation(form, { mode: 'unattended' }, stored))).toMatchObject({
        do: 'fail',
        code: 'captcha_blocked',
      });
    });

    it('asks for other characters only, if the site refused those', () => {
      const again = { ...form, website_error: 'Wrong captcha', wants_proof: true as const };
      const decision = decide(situation(again, { last: entered('person', form) }, stored));
      if (decision.do !== 'ask') throw new Error(decision.do);
      expect(decision.question.fields.map(({ ref, reason }) => `${ref} ${reason}`)).toEqual(['captcha rejected']);
      expect(decision.question.known).toHaveLength(2);
    });
  });

  it('asks a person for values that are not stored', () => {
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

  it('enters a stored credential and asks only for the rest of the form', () => {
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

  it('answers an authenticator code from the secret, and leaves a delivered code to the person', () => {
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

  it('types nothing after an entry with an unknown outcome', () => {
    const last = entered('credential', LOGIN_PAGE, false);
    expect(decide(situation(LOGIN_PAGE, { last }, STORED))).toMatchObject({ do: 'ask', question: { known: [] } });
    expect(decide(situation(LOGIN_PAGE, { last, mode: 'unattended' }, STORED))).toMatchObject({
      code: 'browser_error',
    });
  });

  it('presses a button that only leads on, once, and leaves consent to a person', () => {
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
    ['blocked', 'bot_detected'],
    ['unavailable', 'network_error'],
    ['passkey', 'unsupported_auth_method'],
    ['http_login', 'unsupported_auth_method'],
    ['password_change', 'website_error'],
    ['other', 'login_form_not_found'],
  ] as const)('fails at a page of kind %s', (kind, code) => {
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
    [page('password_change'), 'customer_input_required'],
    [page('choice', { choices: [choice('mfa_method', 'Text', { mfa_type: 'sms' })] }), 'mfa_required'],
    [page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Ben')] }), 'account_choice_required'],
  ])('names the missing value when unattended (%#)', (reading, code) => {
    expect(decide(situation(reading, { mode: 'unattended' }, STORED))).toMatchObject({ do: 'fail', code });
  });

  it('tries the saved secret once for a code of unknown origin', () => {
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

  it('treats a code as rejected when it is asked for again, even if the page no longer says whose it is', () => {
    const asked = page('form', { fields: [field('totp_code', 'token')] });
    const again = page('form', { fields: [field('code', 'token', { channel: 'unknown' })] });
    expect(decide(situation(again, { last: entered('person', asked) }))).toMatchObject({
      do: 'ask',
      question: { fields: [{ reason: 'rejected' }] },
    });
  });

  it('prefers the choice that the credential can answer', () => {
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

  it("distinguishes a person's phones, and the code of the chosen one", () => {
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
  ] as const)('makes no attempt at a site that is %s, attended or not', (why, words) => {
    const shut = { ...LOGIN_PAGE, website_error: 'No.', lock_out: why };
    for (const mode of ['attended', 'unattended'] as const)
      expect(decide(situation(shut, { mode }, STORED))).toMatchObject({
        do: 'fail',
        code: 'max_attempts_reached',
        message: expect.stringMatching(words) as string,
      });
  });

  it('tries a second code of the saved secret after a rejected one, but not a third', () => {
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

  it('waits for a push and offers the code field beside it', () => {
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

  it("picks the plan's account when unattended, once, and never repeats a consent", () => {
    const accounts = page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Ben')] });
    const took = (type: 'account' | 'other', label: string) => ({
      choice: { type, label, masked_destination: null, answered_by: 'person' as const },
    });
    const ben = took('account', 'Ben');
    expect(followed(accounts, ben)).toMatchObject({ do: 'enter', answer: { choice: { label: 'Ben' } } });
    const last = { ...entered('person', accounts), fingerprint: choiceFingerprint(accounts.choices) };
    expect(followed(accounts, ben, { last })).toMatchObject({ code: 'account_choice_required' });
    const gone = page('choice', { choices: [choice('account', 'Anna'), choice('account', 'Cleo')] });
    expect(followed(gone, ben)).toMatchObject({ code: 'account_choice_required' });
    const terms = page('choice', { choices: [choice('other', 'I agree')] });
    expect(followed(terms, took('other', 'I agree'))).toMatchObject({ code: 'customer_input_required' });
  });

  it("follows the plan's choice even if the page also has a field or asks for an action elsewhere", () => {
    const password = choice('auth_method', 'Use a password');
    const choices = [password, choice('auth_method', 'E-mail me a link')];
    const step = { choice: { ...password, answered_by: 'person' } } as const;
    const form = page('form', { fields: [field('identifier', 'user')], choices });
    expect(followed(form, step)).toMatchObject({ do: 'enter', answer: { entries: [], choice: password } });
    expect(decide(situation(form, { mode: 'unattended' }, STORED))).toMatchObject({
      do: 'enter',
      answer: { entries: [{ ref: 'username' }], choice: null },
    });
    const push = page('external_action', { choices });
    expect(followed(push, step)).toMatchObject({ do: 'enter', answer: { choice: password } });
    expect(decide(situation(push, { mode: 'unattended' }, STORED))).toMatchObject({ code: 'external_action_required' });
    const yes = choice('other', 'Yes', { agrees_to_nothing: true });
    const stay = page('choice', { choices: [choice('other', 'No', { agrees_to_nothing: true }), yes] });
    expect(followed(stay, { choice: { ...yes, answered_by: 'person' } })).toMatchObject({ answer: { choice: yes } });
  });

  function followed(reading: PageReading, step: Partial<PlanStep>, more: Partial<Situation> = {}) {
    const plan = {
      id: 'flow_1',
      credential_id: 'cred_1',
      steps: [{ page: pageShape(reading.url), fields: [], choice: null, external: false, ...step }],
      failures: { count: 0, credential: null },
    };
    const planned = stepFor([plan], reading, NOTHING_KNOWN);
    return decide(situation(reading, { mode: 'unattended', planned, ...more }, STORED));
  }

  it('asks whether to keep the secret of a new authenticator, and types no code of another one', () => {
    const withSecret = { ...STORED, hasTotpSecret: true };
    const offer = page('form', { fields: [field('totp_code', 'otp')], enrolment: true });
    const asked = decide(situation(offer, { canSave: true }, withSecret));
    expect(asked).toMatchObject({
      do: 'ask',
      question: { fields: [{ ref: 'code' }], known: [], choices: [{ id: 'keep_authenticator' }] },
    });
    expect(decide(situation(offer, {}, withSecret))).toMatchObject({ do: 'ask', question: { choices: [] } });
    const unattended = { mode: 'unattended', canSave: true } as const;
    expect(decide(situation(offer, unattended, withSecret))).toMatchObject({ code: 'customer_input_required' });
    const later = choice('other', 'Not now', { agrees_to_nothing: true });
    expect(decide(situation({ ...offer, choices: [later] }, unattended, withSecret))).toMatchObject({
      do: 'enter',
      answer: { choice: later },
    });
  });

  it('stops an endless login', () => {
    expect(decide(situation(LOGIN_PAGE, { entered: MAX_ENTRIES }))).toMatchObject({ code: 'max_steps_exceeded' });
    expect(decide(situation(LOGIN_PAGE, { rejections: 6 }))).toMatchObject({ code: 'max_attempts_reached' });
  });
});

describe('a code that arrives automatically at an unattended login', () => {
  const byText = (more: Partial<Situation> = {}) =>
    decide(situation(CODE_PAGE, { mode: 'unattended', ...more }, STORED));

  it('is waited for only if its channel delivers automatically', () => {
    expect(byText({ codeChannels: ['sms'] }).do).toBe('ask');
    expect(byText({ codeChannels: ['email'] })).toMatchObject({ do: 'fail', code: 'sms_code_required' });
  });

  it('may be a mailed link if emails arrive', () => {
    const wait = page('external_action', { mailed_link: true });
    const unattended = { mode: 'unattended', codeChannels: ['email'] } as const;
    expect(decide(situation(wait, unattended)).do).toBe('wait');
    const failed = { do: 'fail', code: 'external_action_required' };
    expect(decide(situation(wait, { ...unattended, codeChannels: ['sms'] }))).toMatchObject(failed);
    expect(decide(situation(page('external_action'), unattended))).toMatchObject(failed);
  });

  it('is not followed by another one if the site rejected it', () => {
    expect(byText({ codeChannels: ['sms'], last: entered('person', CODE_PAGE) })).toMatchObject({
      do: 'fail',
      code: 'sms_code_required',
    });
  });
});
