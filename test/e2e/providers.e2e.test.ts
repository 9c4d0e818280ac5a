import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authenticatorCode } from './authenticator.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson, fieldTypes, type Person } from './person.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

const LOGIN = '/login/sso';

describe('a password is only used on its own site', () => {
  test("the password of the site's form is not typed at an identity provider, which requests its own", async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('frank');
    const values = { email: username, username, password };
    await kernel.credentials.create({ name: 'of the site', domain: practice.domain, values });
    const person = await newPerson(on, {
      login_url: practice.page('/idp/github'),
      credential: { name: 'of the site' },
    });
    const elsewhere = `http://${practice.providerDomain}/idp/github`;
    await kernel.auth.connections.update(person.id, { login_url: elsewhere });
    await person.login();
    expect((await person.waitForInput()).fields).toMatchObject([{ type: 'identifier', reason: 'missing' }]);
    await person.answer({ identifier: username });
    expect((await person.waitForInput()).fields).toMatchObject([{ type: 'password', reason: 'missing' }]);
    expect((await practice.counts('frank')).passwords).toBe(0);
  });

  test("an identity provider's password is not typed into the site's form", async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('heidi');
    const login = practice.page('/login');
    await kernel.credentials.create({
      name: 'of a provider',
      domain: practice.domain,
      values: { username, password },
      sso_provider: 'github',
    });
    const person = await newPerson(on, { login_url: login, credential: { name: 'of a provider' } });
    await person.login();
    expect((await person.waitForInput()).fields?.map(({ reason }) => reason)).toEqual(['missing', 'missing']);
    expect((await practice.counts('heidi')).posts).toBe(0);
  });
});

/** Signs in through an identity provider of the practice site, up to the password. */
async function throughProvider(label: string, user: string): Promise<Person> {
  const { practice } = on;
  const person = await newPerson(on, { login_url: practice.page(LOGIN) });
  await person.login();
  await person.waitForInput();
  await person.choose((choice) => choice.label.includes(label));
  await person.waitForInput();
  await person.answer({ identifier: user });
  await person.waitForInput();
  await person.answer({ password: practice.user(user).password });
  return person;
}

describe('pages between an identity provider and the site', () => {
  test('a page with a single button to continue is passed automatically', async () => {
    await (await throughProvider('Apple', 'alice')).waitForSuccess();
  });

  test("consent is requested from the person once, and the provider's password is reused at the provider, never in the site's form", async () => {
    const { kernel, practice } = on;
    const person = await throughProvider('Microsoft', 'bob');
    expect((await person.waitForInput()).choices?.map(({ label }) => label)).toEqual(['Allow', 'Cancel']);
    await person.choose(({ label }) => label === 'Allow');
    const { credential } = await person.waitForSuccess();
    expect(await kernel.credentials.retrieve(credential?.name ?? '')).toMatchObject({ sso_provider: 'microsoft' });

    expect(await practice.expire('bob')).toBe(1);
    await kernel.post(`/auth/connections/${person.id}/check`);
    expect(await person.waitForReauth()).toMatchObject({ flow_status: 'SUCCESS', sso_provider: 'microsoft' });
    expect((await practice.counts('bob')).passwords).toBe(2);
    expect(await practice.postsAt('bob', LOGIN)).toBe(0);
  });
});

/** Re-authenticates after the session has ended, without a person. */
async function again(person: Person, user: string): Promise<void> {
  expect(await on.practice.expire(user)).toBe(1);
  await person.login();
  const states = await person.followToEnd();
  expect(states.map(({ flow_step: step }) => step)).not.toContain('AWAITING_INPUT');
  expect(states.at(-1)).toMatchObject({ flow_status: 'SUCCESS' });
}

describe('a login in another window or frame', () => {
  test("a provider's window closes when it is done, and the page reacts a moment later", async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/popup') });
    await person.login();
    await person.waitForInput();
    await person.choose(({ label }) => label.includes('Google'));
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier');
    await person.answer({ identifier: 'erin' });
    await person.waitForInput();
    await person.answer({ password: practice.user('erin').password });
    expect(await person.waitForSuccess()).toMatchObject({ post_login_url: practice.page('/account') });

    await again(person, 'erin');
    expect(await person.read()).toMatchObject({ can_reauth: true, sso_provider: 'google' });
    expect((await practice.counts('erin')).passwords).toBe(2);
  });

  test('the form of another site, two frames deep', async () => {
    const { practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/framed') });
    await person.login();
    expect(fieldTypes((await person.waitForInput()).fields)).toBe('identifier password');
    await person.answer({ identifier: 'frank', password: 'not it' });
    expect((await person.waitForInput()).website_error).toBe('Account or password is wrong.');
    await person.answer({ identifier: 'frank', password: practice.user('frank').password });
    await person.waitForSuccess();

    await again(person, 'frank');
    expect(await person.read()).toMatchObject({ can_reauth: true, status: 'AUTHENTICATED' });
  });
});

describe('forms shown by scripts', () => {
  test('a form in a window that a button opens, with a session outside cookies', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/modal') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: 'carol', password: 'not it' });
    expect((await person.waitForInput()).fields?.map(({ reason }) => reason)).toContain('rejected');
    await person.answer({ identifier: 'carol', password: practice.user('carol').password });
    await person.waitForSuccess();

    expect(await practice.expire('carol')).toBe(1);
    await kernel.post(`/auth/connections/${person.id}/check`);
    expect(await person.waitForReauth()).toMatchObject({ flow_status: 'SUCCESS', status: 'AUTHENTICATED' });
  });

  test('a code field added to a filled form is the only one requested', async () => {
    const { practice } = on;
    const { email, password, totpSecret } = practice.user('dave');
    const person = await newPerson(on, { login_url: practice.page('/login/code-beside') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: email, password });
    const pause = await person.waitForInput();
    expect(fieldTypes(pause.fields)).toBe('totp_code');
    await person.answer({ totp_code: authenticatorCode(totpSecret) });
    await person.waitForSuccess();
    expect((await practice.counts('dave')).refused).toBe(0);
  });
});
