import type Kernel from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startInstallation, type Installation } from './installation.ts';
import { apiErrorOf } from './api-error.ts';
import { newPerson, fieldTypes, type PendingInteraction } from './person.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

describe.concurrent('answers of a person', () => {
  test("a wrong password is requested again with the site's message, and the right one, submitted four times, is typed once", async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login') });
    await person.login();
    const first = await person.waitForInput();
    await person.answer({ identifier: 'alice', password: 'not-her-password' });
    const again = await person.waitForInput();
    expect(again.interaction_id).not.toBe(first.interaction_id);
    expect(again.website_error).toBe('Incorrect username or password.');
    expect(again.fields?.find(({ type }) => type === 'password')?.reason).toBe('rejected');
    expect(await practice.counts('alice')).toMatchObject({ passwords: 1, refused: 1 });
    const { password } = practice.user('alice');
    const field_values = Object.fromEntries(
      (again.fields ?? []).map(({ id, type }) => [id, type === 'password' ? password : 'alice']),
    );
    const body = { interaction_id: again.interaction_id, field_values };
    const send = () => kernel.auth.connections.submit(person.id, body);
    const accepted = { accepted: true };
    expect(await Promise.all([send(), send(), send()])).toEqual([accepted, accepted, accepted]);
    expect((await person.waitForSuccess()).website_error).toBeNull();
    expect(await send()).toEqual(accepted);
    expect(await practice.counts('alice')).toMatchObject({ passwords: 2, refused: 1, accepted: 1 });
  });

  test('the e-mail address is requested first, then the password on a separate page until it is right', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/two-step') });
    await person.login();
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier');
    await person.answer({ identifier: practice.user('bob').email });
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('password');
    await person.answer({ password: 'not-his-password' });
    const again = await person.waitForInput();
    expect(again.website_error).toContain('Wrong password');
    expect(again.fields).toMatchObject([{ type: 'password', reason: 'rejected' }]);
    await person.answer({ password: practice.user('bob').password });
    await person.waitForSuccess();
  });

  test('a credential with some of the values is completed by requesting only the missing ones', async () => {
    const { kernel, practice } = on;
    await kernel.credentials.create({ name: 'half', domain: practice.domain, values: { username: 'frank' } });
    const person = await newPerson(on, { login_url: practice.page('/login'), credential: { name: 'half' } });
    await person.login();
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('password');
    await person.answer({ password: practice.user('frank').password });
    expect(await person.waitForSuccess()).toMatchObject({ credential: { name: 'half' }, can_reauth: true });
    const held = await kernel.credentials.retrieve('half');
    expect(held.value_keys?.toSorted()).toEqual(['password', 'username']);
  });
});

describe.concurrent('the older forms of a submit', () => {
  test('fields are answered by their names on the page, and save_credentials: false saves nothing', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/sso'), save_credentials: false });
    await person.login();
    const { discovered_fields: found } = await person.waitForInput();
    expect(found).toMatchObject([
      { name: 'email', type: 'email' },
      { name: 'password', type: 'password' },
    ]);
    const { email, password } = practice.user('grace');
    await kernel.auth.connections.submit(person.id, { fields: { email, password } });
    const end = await person.waitForSuccess();
    expect(end.credential).toBeUndefined();
    expect(end).toMatchObject({ can_reauth: false, can_reauth_reason: 'no_credential' });
    const { profile_name: profile } = end;
    for await (const { name } of kernel.credentials.list()) expect(name).not.toContain(profile);
  });

  test.for([
    ['sso_provider', 'microsoft'],
    ['sso_button_selector', 'apple'],
  ] as const)('%s selects the button of an identity provider', async ([form, provider]) => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/sso') });
    await person.login();
    const button = (await person.waitForInput()).pending_sso_buttons?.find((each) => each.provider === provider);
    const value = form === 'sso_provider' ? provider : (button?.selector ?? '');
    await kernel.auth.connections.submit(person.id, { [form]: value });
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier');
    expect((await person.read()).sso_provider).toBe(provider);
  });
});

describe('the wrong one of several forms', () => {
  test('can be skipped for the next one, which later logins and re-authentications use automatically', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/two-forms'), save_credentials: true });
    const passOver = async ({ interaction_id }: PendingInteraction) => {
      const body: Kernel.Auth.ConnectionSubmitParams & { interaction_id: string; wrong_form: true } = {
        interaction_id,
        wrong_form: true,
      };
      await kernel.auth.connections.submit(person.id, body);
    };
    const asked = async (name: string): Promise<PendingInteraction> => {
      const pause = await person.waitForInput();
      expect(pause.fields?.map(({ label }) => label)).toEqual([name, 'Password']);
      return pause;
    };
    await person.login();
    const partners = await asked('Partner name');
    await passOver(partners);
    const members = await asked('Member name');
    // Submitted twice, it skips only one form.
    await passOver(partners);
    await passOver(members);
    await passOver(await asked('Badge'));
    // The first form follows the last.
    await passOver(await asked('Partner name'));
    await asked('Member name');
    await person.answer({ identifier: 'bob', password: practice.user('bob').password });
    await person.waitForSuccess();
    const posts = await practice.postsAt('bob', '/login/two-forms');

    await practice.expire('bob');
    await kernel.post(`/auth/connections/${person.id}/check`);
    expect(await person.waitForReauth()).toMatchObject({ flow_status: 'SUCCESS', status: 'AUTHENTICATED' });
    expect(await practice.postsAt('bob', '/login/two-forms')).toBe(posts + 1);
  });
});

describe('a rejected submit', () => {
  test('types nothing if it is stale, unknown, incomplete, empty or ambiguous, or if nothing awaits input', async () => {
    const { kernel, practice } = on;
    const { connections } = kernel.auth;
    const person = await newPerson(on, { login_url: practice.page('/login/two-step') });
    const values = { identifier: 'nobody-of-this-site' };
    const before = await practice.counts(values.identifier);

    expect(await apiErrorOf(connections.submit(person.id, { fields: values }))).toMatchObject({
      status: 422,
      code: 'not_awaiting_input',
    });
    await person.login();
    const { interaction_id, fields } = await person.waitForInput();
    const id = fields?.[0]?.id ?? '';
    const field_values = { [id]: values.identifier };
    const wrong: [
      body: Kernel.Auth.ConnectionSubmitParams & { interaction_id?: string; wrong_form?: true },
      code: string,
    ][] = [
      [{ interaction_id: 'int_of_another_time', field_values }, 'stale_interaction'],
      [{ interaction_id, field_values: { ...field_values, field_made_up: 'x' } }, 'unknown_field'],
      [{ interaction_id, selected_choice_id: 'choice_made_up' }, 'unknown_choice'],
      [{ fields: { made_up: 'x' } }, 'unknown_field'],
      [{ mfa_option_id: 'sms' }, 'unknown_choice'],
      [{ sso_provider: 'google' }, 'unknown_choice'],
      [{ sso_button_selector: '//a[1]' }, 'unknown_choice'],
      [{ sign_in_option_id: 'choice_made_up' }, 'unknown_choice'],
      [{ field_values }, 'invalid_input'],
      [{ interaction_id, field_values: {} }, 'invalid_input'],
      [{ interaction_id, field_values, mfa_option_id: 'sms' }, 'invalid_input'],
      [{ interaction_id, field_values, wrong_form: true }, 'invalid_input'],
      [{ wrong_form: true }, 'invalid_input'],
      [{}, 'invalid_input'],
    ];
    for (const [body, code] of wrong) {
      expect(await apiErrorOf(connections.submit(person.id, body)), JSON.stringify(body)).toMatchObject({
        status: 400,
        code,
      });
    }
    expect(await person.read()).toMatchObject({ flow_step: 'AWAITING_INPUT', interaction_id });
    expect(await practice.counts(values.identifier)).toEqual(before);

    // The interaction is still pending.
    await person.answer({ identifier: 'bob' });
    const next = await person.waitForInput();
    expect(fieldTypes(next.fields)).toBe('password');
    // A new answer to a finished interaction is stale; a repeated one counts as the same submit.
    const late = { interaction_id, field_values: { [id]: 'alice' } };
    expect(await apiErrorOf(connections.submit(person.id, late))).toMatchObject({ code: 'stale_interaction' });
  });
});
