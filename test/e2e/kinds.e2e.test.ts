import { TimelineEvent } from '../../contract/connections.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PROJECT_ID } from '../../store/store.ts';
import { authenticatorCode } from './authenticator.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson, fieldTypes } from './person.ts';
import { until } from './until.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

describe.concurrent('a login on the practice site by the public client', () => {
  test('one page, found by the sign-in link of the home page', async () => {
    const { practice } = on;
    const person = await newPerson(on);
    await person.login();
    const pause = await person.waitForInput();
    expect(fieldTypes(pause.fields)).toBe('identifier password');
    await person.answer({ identifier: 'alice@sandbox.test', password: practice.user('alice').password });
    expect((await person.waitForSuccess()).post_login_url).toBe(practice.page('/account'));
  });

  test('a login that the saved profile does not hold fails and leaves the profile unchanged', async () => {
    const { kernel, practice, store } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/forgetful') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'heidi', password: practice.user('heidi').password });
    expect(await person.waitForEnd()).toMatchObject({
      status: 'NEEDS_AUTH',
      flow_status: 'FAILED',
      error_code: 'session_not_persistent',
      can_reauth_reason: 'no_prior_successful_login',
    });
    expect(await practice.postsAt('heidi', '/login/forgetful')).toBe(1);
    const { credentials } = kernel;
    const { profile_name: profile } = await person.read();
    for await (const { name } of credentials.list()) expect(name).not.toContain(profile);
    // Saved to verify it, then rolled back.
    expect(await store.profiles.load(DEFAULT_PROJECT_ID, { name: profile })).toMatchObject({
      revision: 2,
      state: { cookies: [], origins: [] },
    });
  });

  test('a page that responds late', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/slow') });
    await person.login();
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier password');
  });

  test('one page at a given URL, whose form a script builds late', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/late') });
    await person.login();
    const pause = await person.waitForInput();
    expect(fieldTypes(pause.fields)).toBe('identifier password');
    expect(pause.fields?.every(({ reason }) => reason === 'missing')).toBe(true);
    await person.answer({ identifier: practice.user('erin').email, password: practice.user('erin').password });
    expect(await person.waitForSuccess()).toMatchObject({
      status: 'AUTHENTICATED',
      flow_step: 'COMPLETED',
      post_login_url: practice.page('/account'),
      fields: null,
      interaction_id: null,
      browser_session_id: null,
    });
  });

  test('a stored credential with a TOTP secret, without a person', async () => {
    const { kernel, practice } = on;
    const { username, password, totpSecret } = practice.user('carol');
    await kernel.credentials.create({
      name: 'carol',
      domain: practice.domain,
      values: { username, password },
      totp_secret: totpSecret,
    });
    const person = await newPerson(on, { login_url: practice.page('/login/totp'), credential: { name: 'carol' } });
    await person.login();
    const states = await person.followToEnd();
    expect(states.map(({ flow_step: step }) => step)).not.toContain('AWAITING_INPUT');
    expect((await person.waitForSuccess()).can_reauth).toBe(true);
    expect(await practice.counts('carol')).toMatchObject({ passwords: 1, codes: 1, accepted: 1, refused: 0 });
  });

  test('a code by text message from a person, whose other values are saved', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/sms') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'dave', password: practice.user('dave').password });
    const pause = await person.waitForInput();
    expect(fieldTypes(pause.fields)).toBe('code');
    expect(pause.fields?.[0]?.hint ?? '').toContain('13');
    await person.answer({ code: (await practice.smsCode('dave')) ?? '' });
    const end = await person.waitForSuccess();
    expect(end).toMatchObject({ can_reauth: false, can_reauth_reason: 'requires_sms_code' });
    const saved = await kernel.credentials.retrieve(end.credential?.name ?? 'none is attached');
    expect(saved.value_keys?.toSorted()).toEqual(['password', 'username']);
  });

  describe.for([
    { method: 'sms', user: 'frank' },
    { method: 'email', user: 'grace' },
    { method: 'totp', user: 'erin' },
  ] as const)('a choice of second factors', ({ method, user }) => {
    test(`by ${method}`, async () => {
      const { kernel, practice } = on;
      const person = await newPerson(on, { login_url: practice.page('/login/mfa-choice') });
      await person.login();
      await person.waitForInput();
      await person.answer({ identifier: user, password: practice.user(user).password });
      const pause = await person.waitForInput();
      expect(pause.choices?.map(({ mfa_type: type }) => type)).toEqual(['sms', 'totp', 'email']);
      expect(pause.mfa_options?.map(({ type }) => type)).toEqual(['sms', 'totp', 'email']);
      // The older form of a choice, by type.
      if (method === 'email') await kernel.auth.connections.submit(person.id, { mfa_option_id: method });
      else await person.choose((choice) => choice.mfa_type === method);
      const asked = fieldTypes((await person.waitForInput()).fields);
      const code = await (method === 'totp'
        ? authenticatorCode(practice.user(user).totpSecret)
        : method === 'sms'
          ? practice.smsCode(user)
          : practice.emailCode(user));
      await person.answer(asked === 'totp_code' ? { totp_code: code ?? '' } : { code: code ?? '' });
      await person.waitForSuccess();
    });
  });

  test('a choice of second factors made by a stored secret, without a person', async () => {
    const { kernel, practice } = on;
    const { username, password, totpSecret } = practice.user('frank');
    await kernel.credentials.create({
      name: 'frank',
      domain: practice.domain,
      values: { username, password },
      totp_secret: totpSecret,
    });
    const person = await newPerson(on, {
      login_url: practice.page('/login/mfa-choice'),
      credential: { name: 'frank' },
    });
    await person.login();
    const states = await person.followToEnd();
    expect(states.map(({ flow_step: step }) => step)).not.toContain('AWAITING_INPUT');
    await person.waitForSuccess();
  });

  test('the button of an identity provider, offered as a choice', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/sso') });
    await person.login();
    const pause = await person.waitForInput();
    expect(pause.choices?.filter(({ type }) => type === 'sso_provider')).toHaveLength(4);
    expect(pause.pending_sso_buttons?.map(({ provider }) => provider)).toEqual([
      'google',
      'microsoft',
      'apple',
      'github',
    ]);
    await person.choose((choice) => choice.label.includes('GitHub'));
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier');
    await person.answer({ identifier: 'grace' });
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('password');
    await person.answer({ password: practice.user('grace').password });
    expect((await person.waitForSuccess()).sso_provider).toBe('github');
  });

  test('the identity provider named by the credential, chosen automatically', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('erin');
    await kernel.credentials.create({
      name: 'by-google',
      domain: practice.providerDomain,
      values: { username, password },
      sso_provider: 'google',
    });
    const person = await newPerson(on, { login_url: practice.page('/login/sso'), credential: { name: 'by-google' } });
    await person.login();
    expect((await person.waitForSuccess()).sso_provider).toBe('google');
  });

  test('an account picker, answered by sign_in_option_id', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/picker') });
    await person.login();
    const pause = await person.waitForInput();
    for (const name of ['Alice', 'Bob', 'Carol']) {
      expect(pause.choices?.filter(({ type, label }) => type === 'account' && label.includes(name))).toHaveLength(1);
    }
    expect(pause.sign_in_options?.map(({ id }) => id)).toEqual(pause.choices?.map(({ id }) => id));
    const option = pause.sign_in_options?.find(({ label }) => label.includes('Bob'));
    await kernel.auth.connections.submit(person.id, { sign_in_option_id: option?.id ?? '' });
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('password');
    await person.answer({ password: practice.user('bob').password });
    await person.waitForSuccess();
  });

  test('an approval on the phone, which continues once it is given', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/push') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'heidi', password: practice.user('heidi').password });
    const pause = await person.waitForExternalAction();
    expect(pause.external_action_message).toContain('phone');
    expect(await practice.approve('heidi')).toBe(1);
    expect(await person.waitForSuccess()).toMatchObject({
      can_reauth: false,
      can_reauth_reason: 'viable_plans_require_external_action',
    });
  });

  test("an alternative chosen while the phone's approval is pending", async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/push') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'erin', password: practice.user('erin').password });
    const pause = await person.waitForExternalAction();
    expect(pause.choices).toHaveLength(1);
    await person.choose((choice) => choice.label.includes('authenticator'));
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier password');
  });

  test('a link by e-mail, which continues once it is opened', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/magic-link') });
    await person.login();
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier');
    await person.answer({ identifier: practice.user('alice').email });
    expect((await person.waitForExternalAction()).external_action_message).toMatch(/link/i);
    const link = await until(
      'the mailed link',
      () => practice.mailedLink('alice'),
      (found) => found !== null,
    );
    expect((await fetch(link ?? '')).status).toBe(200);
    await person.waitForSuccess();
  });

  test.for([
    ['/login/passkey', 'unsupported_auth_method', 'passkey: '],
    ['/login/blocked', 'bot_detected', 'blocked: '],
    ['/login/error500', 'network_error', 'unavailable: status 500'],
  ] as const)('%s ends the flow with %s, and the timeline shows the evidence', async ([path, code, evidence]) => {
    const person = await newPerson(on, { login_url: on.practice.page(path) });
    await person.login();
    const end = await person.waitForEnd();
    expect(end).toMatchObject({ status: 'NEEDS_AUTH', flow_status: 'FAILED', error_code: code, interaction_id: null });
    expect(end.error_message).toMatch(/\w/);
    const { items } = await on.kernel.auth.connections.timeline(person.id);
    expect(TimelineEvent.parse(items[0]).evidence).toContain(evidence);
  });
});
