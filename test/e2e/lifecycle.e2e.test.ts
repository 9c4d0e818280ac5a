import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { customerNumberOf } from '../../sandbox/users.ts';
import { startStandIn, type Call, type StandIn } from '../credential-providers/stand-ins.ts';
import { authenticatorCode } from './authenticator.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson, fieldTypes } from './person.ts';

/** The shortest allowed, because each wait for a new code takes one period. */
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

/** A model that chooses the form for members. */
function takeMembers({ body }: Call): [number, unknown] {
  const { messages } = z.object({ messages: z.array(z.object({ content: z.string() })) }).parse(JSON.parse(body));
  const { forms } = z.object({ forms: z.array(z.unknown()) }).parse(JSON.parse(messages.at(-1)?.content ?? ''));
  const number = forms.findIndex((form) => /member/i.test(JSON.stringify(form))) + 1;
  return [200, { choices: [{ message: { content: String(number) } }] }];
}

describe('two identifier fields', () => {
  test('are saved under separate names and typed into their own fields again', async () => {
    const { kernel, practice } = on;
    const user = practice.user('bob');
    const person = await newPerson(on, { login_url: practice.page('/login/customer') });
    await person.login();
    const { fields, interaction_id } = await person.waitForInput();
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
    const { credential } = await person.waitForSuccess();
    const saved = await kernel.credentials.retrieve(credential?.name ?? '');
    expect([...(saved.value_keys ?? [])].sort()).toEqual(['customer_number', 'password', 'user_id']);
    await practice.expire('bob');
    await person.login();
    expect(await person.waitForSuccess()).toMatchObject({ can_reauth_reason: 'viable_plans_found' });
    expect(await practice.counts('bob')).toMatchObject({ passwords: 2, refused: 0 });
    const timeline = await kernel.auth.connections.timeline(person.id);
    const flows = timeline.getPaginatedItems().filter(({ type }) => type !== 'health_check');
    expect(flows.map((event) => Reflect.get(event, 'passwords_typed') as unknown)).toEqual([1, 1]);
  });
});

test('an approval on the phone beside a code field also accepts the code', async () => {
  const { totpSecret, ...user } = on.practice.user('heidi');
  const person = await newPerson(on, { login_url: on.practice.page('/login/push-code') });
  await person.login();
  await person.waitForInput();
  await person.answer({ identifier: user.username, password: user.password });
  const pause = await person.waitForExternalAction();
  expect(pause.external_action_message).toMatch(/phone/i);
  expect(fieldTypes(pause.fields)).toBe('totp_code');
  expect(pause.discovered_fields).toHaveLength(1);
  await person.answer({ totp_code: authenticatorCode(totpSecret) });
  await person.waitForSuccess();
});

test('a site that accepts no more attempts gets none, and its message is reported', async () => {
  const { kernel, practice } = on;
  const { username, password } = practice.user('alice');
  await kernel.credentials.create({ name: 'shut out', domain: practice.domain, values: { username, password } });
  const person = await newPerson(on, { login_url: practice.page('/login'), credential: { name: 'shut out' } });
  for (const [why, words] of [
    ['locked', /locked/],
    ['attempts', /Too many/],
  ] as const) {
    await practice.lock(username, why);
    await person.login();
    const said = expect.stringMatching(words) as string;
    expect(await person.waitForEnd()).toMatchObject({ error_code: 'max_attempts_reached', website_error: said });
  }
  expect((await practice.counts(username)).passwords).toBe(2);
});

describe('an account picker', () => {
  test('is answered in a REAUTH as in the login', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/picker') });
    await person.login();
    await person.waitForInput();
    await person.choose(({ label }) => label.includes('Bob'));
    await person.waitForInput();
    await person.answer({ password: practice.user('bob').password });
    expect((await person.waitForSuccess()).can_reauth).toBe(true);
    await practice.expire('bob');
    await on.connections.check(person.id);
    expect(await person.waitForSuccess()).toMatchObject({ flow_type: 'REAUTH', status: 'AUTHENTICATED' });
  });
});

describe('a redesigned login page', () => {
  test('is read again if the plan does not match, and ends the REAUTH if it is a dead end', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('erin');
    await kernel.credentials.create({ name: 'anew', domain: practice.domain, values: { username, password } });
    await practice.setLayout('renamed');
    const person = await newPerson(on, { login_url: practice.page('/login'), credential: { name: 'anew' } });
    await person.login();
    const planned = { can_reauth_reason: 'viable_plans_found' };
    expect(await person.waitForSuccess()).toMatchObject(planned);
    for (const layout of ['steps', 'dead_end'] as const) {
      await practice.setLayout(layout);
      await practice.expire('erin');
      await on.connections.check(person.id);
      const end = layout === 'steps' ? { status: 'AUTHENTICATED' } : { error_code: 'stuck_in_loop' };
      expect(await person.waitForReauth()).toMatchObject({ flow_type: 'REAUTH', ...planned, ...end });
    }
    expect(await practice.counts('erin')).toMatchObject({ passwords: 3, refused: 0 });
    await practice.setLayout('usual');
  });
});

describe('similar forms', () => {
  test('are distinguished by a model, and can_reauth reports that the choice will be needed again', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('frank');
    const name = 'of a member';
    await kernel.credentials.create({ name, domain: practice.domain, values: { username, password } });
    const person = await newPerson(on, { login_url: practice.page('/login/two-forms'), credential: { name } });
    await person.login();
    expect(await person.waitForSuccess()).toMatchObject({ can_reauth: true, can_reauth_reason: 'cua_has_credential' });
    expect(model.calls.length).toBeGreaterThan(0);
  });
});

describe('a site that asks to set up an authenticator', () => {
  test("has its key saved with the person's consent, even from a QR code, and its codes are tried twice afterwards", async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('heidi');
    await practice.setTotpPeriod(username, SHORT_PERIOD_S);
    await practice.setKeyFormat('canvas');
    const person = await newPerson(on, { login_url: practice.page('/login/enrol') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: username, password });
    const pause = await person.waitForInput();
    expect(pause.choices).toMatchObject([{ id: 'keep_authenticator', label: 'Let Holdfast store this authenticator' }]);
    expect(JSON.stringify(pause)).not.toMatch(/[A-Z2-7]{4} [A-Z2-7]{4}|[A-Z2-7]{32}/);
    await practice.rejectCodes(username, 1);
    await person.choose(({ id }) => id === 'keep_authenticator');
    expect((await person.waitForInput()).fields).toMatchObject([{ type: 'totp_code', reason: 'rejected' }]);
    await person.choose(({ id }) => id === 'keep_authenticator');
    const { credential, can_reauth_reason: reason } = await person.waitForSuccess();
    expect(reason).toBe('viable_plans_found');
    expect((await kernel.credentials.retrieve(credential?.name ?? '')).has_totp_secret).toBe(true);

    const refused = { flow_status: 'FAILED', error_code: 'totp_code_rejected', can_reauth: false };
    for (const [times, end] of [
      [1, { flow_status: 'SUCCESS', can_reauth: true }],
      [9, { ...refused, can_reauth_reason: 'requires_customer_input' }],
    ] as const) {
      const { codes } = await practice.counts(username);
      await practice.rejectCodes(username, times);
      await practice.expire(username);
      await on.connections.check(person.id);
      expect(await person.waitForEnd()).toMatchObject({ flow_type: 'REAUTH', ...end });
      expect((await practice.counts(username)).codes - codes).toBe(2);
    }
  });
});

describe('two phones and a backup code', () => {
  test('are separate choices, and the older form picks a phone by its target', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/two-phones') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'dave', password: practice.user('dave').password });
    const pause = await person.waitForInput();
    expect(pause.choices?.map(({ mfa_type: type, masked_destination: to }) => [type, to?.slice(-2) ?? null])).toEqual([
      ['sms', '13'],
      ['sms', '63'],
      ['call', '63'],
      [null, null],
    ]);
    expect(new Set(pause.choices?.map(({ id }) => id)).size).toBe(4);
    expect(pause.mfa_options?.map(({ type }) => type)).toEqual(['sms', 'sms', 'call']);
    expect(pause.sign_in_options?.map(({ label }) => label)).toEqual(['Backup code']);
    await kernel.auth.connections.submit(person.id, { mfa_option_id: pause.mfa_options?.[1]?.target ?? '' });
    const asked = await person.waitForInput();
    expect(asked.discovered_fields?.[0]?.linked_mfa_type).toBe('sms');
    expect(await practice.sentTo('dave')).toMatch(/63$/);
    await person.answer({ code: (await practice.smsCode('dave')) ?? '' });
    await person.waitForSuccess();
  });

  test('can be picked with the older form, including the backup code', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/two-phones') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'frank', password: practice.user('frank').password });
    const [backup] = (await person.waitForInput()).sign_in_options ?? [];
    await kernel.auth.connections.submit(person.id, { sign_in_option_id: backup?.id ?? '' });
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('code');
    expect(await practice.smsCode('frank')).toBeNull();
  });
});
