import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { customerNumberOf } from '../../sandbox/users.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newcomer, typesOf } from './person.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

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
