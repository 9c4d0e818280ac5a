import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { customerNumberOf } from '../../sandbox/users.ts';
import { startStandIn, type Call, type StandIn } from '../credential-providers/stand-ins.ts';
import { authenticatorCode } from './authenticator.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newcomer, typesOf } from './person.ts';
import { until } from './until.ts';

/** The shortest that a credential may have: each wait for another code takes it. */
const SHORT_PERIOD_S = 10;

let model: StandIn;
let on: Installation;
beforeAll(async () => {
  model = await startStandIn(takeMembers);
  on = await startInstallation({ model: { url: `${model.address}/v1`, name: 'small', key: undefined } });
});
afterAll(async () => {
  await on.close();
  await model.close();
});

/** A model that is asked between forms and takes the one for members. */
function takeMembers({ body }: Call): [number, unknown] {
  const { messages } = z.object({ messages: z.array(z.object({ content: z.string() })) }).parse(JSON.parse(body));
  const { forms } = z.object({ forms: z.array(z.unknown()) }).parse(JSON.parse(messages.at(-1)?.content ?? ''));
  const number = forms.findIndex((form) => /member/i.test(JSON.stringify(form))) + 1;
  return [200, { choices: [{ message: { content: String(number) } }] }];
}

describe('two fields that both say who somebody is', () => {
  test('are saved under names of their own, and typed again each into its own', async () => {
    const { kernel, practice } = on;
    const user = practice.user('bob');
    const person = await newcomer(on, { login_url: practice.page('/login/customer') });
    await person.login();
    const { fields, interaction_id } = await person.asked();
    expect(fields?.map(({ ref }) => ref)).toEqual(['customer_number', 'user_id', 'password']);
    const [customer, id, password] = fields ?? [];
    const answer = {
      interaction_id,
      field_values: {
        [customer?.id ?? '']: customerNumberOf(user),
        [id?.id ?? '']: user.username,
        [password?.id ?? '']: user.password,
      },
    };
    await kernel.auth.connections.submit(person.id, answer);
    const { credential } = await person.loggedIn();
    const saved = await kernel.credentials.retrieve(credential?.name ?? '');
    expect([...(saved.value_keys ?? [])].sort()).toEqual(['customer_number', 'password', 'user_id']);
    await practice.expire('bob');
    await on.connections.check(person.id);
    expect(await person.loggedIn()).toMatchObject({ flow_type: 'REAUTH', status: 'AUTHENTICATED' });
    expect(await practice.counts('bob')).toMatchObject({ passwords: 2, refused: 0 });
    const timeline = await kernel.auth.connections.timeline(person.id);
    const flows = timeline.getPaginatedItems().filter(({ type }) => type !== 'health_check');
    expect(flows.map((event) => Reflect.get(event, 'passwords_typed') as unknown)).toEqual([1, 1]);
  });

  test('are asked for where the credential has one value for both', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('carol');
    await kernel.credentials.create({ name: 'one value', domain: practice.domain, values: { username, password } });
    const person = await newcomer(on, {
      login_url: practice.page('/login/customer'),
      credential: { name: 'one value' },
    });
    await person.login();
    expect((await person.asked()).fields?.map(({ ref }) => ref)).toEqual(['customer_number', 'user_id']);
    expect((await practice.counts('carol')).posts).toBe(0);
  });
});

describe('a question on the phone beside a field for a code', () => {
  const atPhone = async (user: string) => {
    const { practice } = on;
    const person = await newcomer(on, { login_url: practice.page('/login/push-code') });
    await person.login();
    await person.asked();
    await person.give({ identifier: user, password: practice.user(user).password });
    return { person, pause: await person.askedElsewhere() };
  };

  test('goes on by itself when the person has agreed', async () => {
    const { person, pause } = await atPhone('grace');
    expect(pause.external_action_message).toMatch(/phone/i);
    expect(typesOf(pause.fields)).toBe('totp_code');
    expect(pause.discovered_fields).toHaveLength(1);
    expect(await on.practice.approve('grace')).toBe(1);
    expect(await person.loggedIn()).toMatchObject({
      can_reauth_reason: 'viable_plans_require_external_action',
    });
  });

  test('takes the code instead', async () => {
    const { person } = await atPhone('heidi');
    await person.give({ totp_code: authenticatorCode(on.practice.user('heidi').totpSecret) });
    await person.loggedIn();
  });
});

describe('a site that takes no more attempts', () => {
  test.for(['locked', 'attempts'] as const)('is left alone (%s) until a person has logged in', async (why) => {
    const { kernel, practice } = on;
    const { username, password } = practice.user(why === 'locked' ? 'alice' : 'frank');
    await kernel.credentials.create({ name: why, domain: practice.domain, values: { username, password } });
    const person = await newcomer(on, { login_url: practice.page('/login'), credential: { name: why } });
    await person.login();
    expect((await person.loggedIn()).can_reauth).toBe(true);
    await practice.lock(username, why);
    await practice.expire(username);
    await on.connections.check(person.id);
    expect(await person.ended()).toMatchObject({
      flow_type: 'REAUTH',
      flow_status: 'FAILED',
      error_code: 'max_attempts_reached',
      website_error: expect.stringMatching(why === 'locked' ? /locked/ : /Too many/) as string,
      can_reauth: false,
      can_reauth_reason: 'requires_customer_input',
    });
    const { passwords } = await practice.counts(username);
    await on.connections.check(person.id);
    expect((await practice.counts(username)).passwords).toBe(passwords);
    await practice.lock(username, null);
    await person.login();
    expect((await person.loggedIn()).can_reauth).toBe(true);
  });
});

describe('an account picker', () => {
  test('is answered in a REAUTH as the login answered it', async () => {
    const { practice } = on;
    const person = await newcomer(on, { login_url: practice.page('/login/picker') });
    await person.login();
    await person.asked();
    await person.choose(({ label }) => label.includes('Bob'));
    await person.asked();
    await person.give({ password: practice.user('bob').password });
    expect((await person.loggedIn()).can_reauth).toBe(true);
    await practice.expire('bob');
    await on.connections.check(person.id);
    expect(await person.loggedIn()).toMatchObject({ flow_type: 'REAUTH', status: 'AUTHENTICATED' });
  });
});

describe('a login page that was made anew', () => {
  test('is read where the plan does not fit, and its new way is the plan from then on', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('erin');
    await kernel.credentials.create({ name: 'anew', domain: practice.domain, values: { username, password } });
    const person = await newcomer(on, { login_url: practice.page('/login'), credential: { name: 'anew' } });
    await person.login();
    expect(await person.loggedIn()).toMatchObject({ can_reauth_reason: 'viable_plans_found' });
    for (const layout of ['renamed', 'steps', 'usual'] as const) {
      await practice.setLayout(layout);
      await practice.expire('erin');
      await on.connections.check(person.id);
      expect(await person.loggedIn()).toMatchObject({
        flow_type: 'REAUTH',
        status: 'AUTHENTICATED',
        can_reauth_reason: 'viable_plans_found',
      });
    }
    expect(await practice.counts('erin')).toMatchObject({ passwords: 4, refused: 0 });
  });

  test('is given up when it has led nowhere twice, until the credential changes', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('grace');
    await kernel.credentials.create({ name: 'nowhere', domain: practice.domain, values: { username, password } });
    const person = await newcomer(on, { login_url: practice.page('/login'), credential: { name: 'nowhere' } });
    await person.login();
    expect(await person.loggedIn()).toMatchObject({ can_reauth_reason: 'viable_plans_found' });
    await practice.setLayout('dead_end');
    await practice.expire('grace');
    const before = await practice.counts('grace');
    const failed = { flow_type: 'REAUTH', flow_status: 'FAILED', error_code: 'stuck_in_loop' };

    await on.connections.check(person.id);
    expect(await person.reauthenticated()).toMatchObject({ ...failed, can_reauth_reason: 'viable_plans_found' });
    // What has changed is tried at once: nothing waits for the pause that follows a failure.
    await kernel.credentials.update('nowhere', { values: { note: 'changed once' } });
    await on.connections.check(person.id);
    const given = await until(
      'the second failure',
      () => person.read(),
      ({ can_reauth: can }) => can === false,
    );
    expect(given).toMatchObject({ ...failed, can_reauth: false, can_reauth_reason: 'no_viable_plans' });
    expect((await practice.counts('grace')).passwords).toBe(before.passwords + 2);

    await kernel.credentials.update('nowhere', { values: { note: 'changed again' } });
    const again = await until(
      'the gate to open',
      () => person.read(),
      ({ can_reauth: can }) => can === true,
    );
    expect(again).toMatchObject({ can_reauth: true, can_reauth_reason: 'has_credential' });
    await practice.setLayout('usual');
  });
});

describe('forms that look alike', () => {
  test('are told apart by a model, and can_reauth says that it has to be asked again', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('frank');
    const name = 'of a member';
    await kernel.credentials.create({ name, domain: practice.domain, values: { username, password } });
    const person = await newcomer(on, { login_url: practice.page('/login/two-forms'), credential: { name } });
    await person.login();
    expect(await person.loggedIn()).toMatchObject({ can_reauth: true, can_reauth_reason: 'cua_has_credential' });
    expect(model.calls.length).toBeGreaterThan(0);
  });
});

describe('a site that asks to set up an authenticator', () => {
  test('has its key kept by a person who agrees, and types its codes from then on', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('heidi');
    const person = await newcomer(on, { login_url: practice.page('/login/enrol') });
    await person.login();
    await person.asked();
    await person.give({ identifier: username, password });
    const pause = await person.asked();
    expect(pause.choices).toMatchObject([{ id: 'keep_authenticator', label: 'Let Holdfast keep this authenticator' }]);
    expect(JSON.stringify(pause)).not.toMatch(/[A-Z2-7]{4} [A-Z2-7]{4}|[A-Z2-7]{32}/);
    await practice.refuseCodes(username, 1);
    await person.choose(({ id }) => id === 'keep_authenticator');
    expect((await person.asked()).fields).toMatchObject([{ type: 'totp_code', reason: 'rejected' }]);
    await person.choose(({ id }) => id === 'keep_authenticator');
    const { credential, can_reauth_reason: reason } = await person.loggedIn();
    expect(reason).toBe('viable_plans_found');
    expect((await kernel.credentials.retrieve(credential?.name ?? '')).has_totp_secret).toBe(true);
    await practice.expire(username);
    await on.connections.check(person.id);
    expect(await person.loggedIn()).toMatchObject({ flow_type: 'REAUTH', status: 'AUTHENTICATED' });
  });

  test('has a key kept that it shows as a QR code alone', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('erin');
    await practice.showKey('canvas');
    const person = await newcomer(on, { login_url: practice.page('/login/enrol') });
    await person.login();
    await person.asked();
    await person.give({ identifier: username, password });
    const pause = await person.asked();
    expect(pause.choices).toMatchObject([{ id: 'keep_authenticator' }]);
    await person.choose(({ id }) => id === 'keep_authenticator');
    const { credential } = await person.loggedIn();
    expect((await kernel.credentials.retrieve(credential?.name ?? '')).has_totp_secret).toBe(true);
    await practice.showKey('text');
  });
});

describe('codes of a saved secret that the site refuses', () => {
  test('are tried once more, and then count as refused', async () => {
    const { kernel, practice } = on;
    const { username, password, totpSecret } = practice.user('carol');
    await practice.setTotpPeriod('carol', SHORT_PERIOD_S);
    await kernel.credentials.create({
      name: 'codes',
      domain: practice.domain,
      values: { username, password },
      totp_secret: `otpauth://totp/carol?secret=${totpSecret}&period=${SHORT_PERIOD_S}`,
    });
    const person = await newcomer(on, { login_url: practice.page('/login/totp'), credential: { name: 'codes' } });
    await practice.refuseCodes('carol', 1);
    await person.login();
    await person.loggedIn();
    const before = await practice.counts('carol');
    await practice.refuseCodes('carol', 9);
    await practice.expire('carol');
    await on.connections.check(person.id);
    expect(await person.ended()).toMatchObject({ flow_status: 'FAILED', error_code: 'totp_code_rejected' });
    expect(await person.read()).toMatchObject({ can_reauth: false, can_reauth_reason: 'requires_customer_input' });
    expect((await practice.counts('carol')).codes - before.codes).toBe(2);
    await practice.refuseCodes('carol', 0);
    await practice.setTotpPeriod('carol', 30);
  });
});

describe('two phones and a backup code', () => {
  test('are choices of their own, and each id picks what it names', async () => {
    const { practice } = on;
    const person = await newcomer(on, { login_url: practice.page('/login/two-phones') });
    await person.login();
    await person.asked();
    await person.give({ identifier: 'dave', password: practice.user('dave').password });
    const pause = await person.asked();
    expect(pause.choices?.map(({ mfa_type: type, masked_destination: to }) => [type, to?.slice(-2) ?? null])).toEqual([
      ['sms', '13'],
      ['sms', '63'],
      ['call', '63'],
      [null, null],
    ]);
    expect(new Set(pause.choices?.map(({ id }) => id)).size).toBe(4);
    expect(pause.mfa_options?.map(({ type }) => type)).toEqual(['sms', 'sms', 'call']);
    expect(pause.sign_in_options?.map(({ label }) => label)).toEqual(['Backup code']);
    await person.choose(({ masked_destination: to }) => to?.endsWith('63') === true);
    const asked = await person.asked();
    expect(asked.discovered_fields?.[0]?.linked_mfa_type).toBe('sms');
    expect(await practice.sentTo('dave')).toMatch(/63$/);
    await person.give({ code: (await practice.smsCode('dave')) ?? '' });
    await person.loggedIn();
  });

  test('are picked by the older forms, too', async () => {
    const { kernel, practice } = on;
    const atChoice = async (user: string) => {
      const person = await newcomer(on, { login_url: practice.page('/login/two-phones') });
      await person.login();
      await person.asked();
      await person.give({ identifier: user, password: practice.user(user).password });
      return { person, pause: await person.asked() };
    };
    const second = await atChoice('erin');
    const target = second.pause.mfa_options?.[1]?.target ?? '';
    await kernel.auth.connections.submit(second.person.id, { mfa_option_id: target });
    await second.person.asked();
    expect(await practice.sentTo('erin')).toMatch(/64$/);
    const backup = await atChoice('frank');
    await kernel.auth.connections.submit(backup.person.id, {
      sign_in_option_id: backup.pause.sign_in_options?.[0]?.id ?? '',
    });
    expect(typesOf((await backup.person.asked()).fields)).toBe('code');
    expect(await practice.smsCode('frank')).toBeNull();
  });
});
