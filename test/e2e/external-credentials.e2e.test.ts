import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startStandIn,
  TOKEN,
  vaultAnswers,
  type StandIn,
  type VaultSecrets,
} from '../credential-providers/stand-ins.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson } from './person.ts';
import { until } from './until.ts';

const secrets: VaultSecrets = {};
let vault: StandIn;
let on: Installation;
let providerId: string;
beforeAll(async () => {
  vault = await startStandIn(vaultAnswers(() => secrets));
  on = await startInstallation({ allowHosts: [vault.host] });
  const settings = { name: 'bao', provider_type: 'vault', token: TOKEN, address: vault.address, cache_ttl_seconds: 0 };
  providerId = (await on.kernel.post<{ id: string }>('/org/credential_providers', { body: settings })).id;
});
afterAll(async () => {
  await on.close();
  await vault.close();
});

test('a login uses the values of an external secret store, and a re-authentication uses its current ones', async () => {
  const { kernel, practice, store } = on;
  const { username, password } = practice.user('alice');
  secrets['sites/practice'] = { data: { username, password }, url: practice.url };
  const person = await newPerson(on, {
    login_url: practice.page('/login'),
    credential: { provider: 'bao', auto: true },
    save_credentials: true,
  });
  expect(await person.read()).toMatchObject({ can_reauth_reason: 'no_prior_successful_login' });
  await person.login();
  expect(await person.waitForSuccess()).toMatchObject({
    status: 'AUTHENTICATED',
    can_reauth: true,
    can_reauth_reason: 'external_credential',
    credential: { provider: 'bao', auto: true },
  });

  await practice.setPassword('alice', 'changed-at-the-site');
  secrets['sites/practice'] = { data: { username, password: 'changed-at-the-site' }, url: practice.url, version: 2 };
  await practice.expire('alice');
  await kernel.post(`/auth/connections/${person.id}/check`);
  const again = await person.waitForReauth();
  expect(again).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
  expect(await practice.counts('alice')).toMatchObject({ passwords: 2, refused: 0 });
  // None of it is stored here, although saving was requested.
  expect(
    (await store.credentials.list({ organizationId: 'org_default', projectId: null }, { limit: 9, offset: 0 })).rows,
  ).toEqual([]);

  // A password that the site rejects is posted once, not on every check.
  await practice.setPassword('alice', 'changed-only-at-the-site');
  await practice.expire('alice');
  for (const _ of [1, 2]) {
    await kernel.post(`/auth/connections/${person.id}/check`);
    await until(
      'the flow',
      () => person.read(),
      ({ flow_status: status }) => status !== 'IN_PROGRESS',
      60_000,
    );
  }
  expect(await practice.counts('alice')).toMatchObject({ passwords: 3, refused: 1 });
  expect(await person.read()).toMatchObject({ status: 'NEEDS_AUTH', can_reauth: false });
  await practice.setPassword('alice', password);
  secrets['sites/practice'] = { data: { username, password }, url: practice.url, version: 3 };
});

test.each([
  ['credential_item_not_found', { provider: 'bao', path: 'sites/nobody' }],
  ['credential_provider_unknown', { provider: 'never-made', auto: true }],
])('a login ends with %s and a message', async (code, credential) => {
  const person = await newPerson(on, { login_url: on.practice.page('/login'), credential });
  await person.login();
  const ended = await person.waitForEnd();
  expect(ended).toMatchObject({ flow_status: 'FAILED', error_code: code });
  expect(ended.error_message).toMatch(/credential/);
});

test('a revoked token ends the login with its own code, and a new token fixes it', async () => {
  const { kernel, practice } = on;
  await kernel.credentialProviders.update(providerId, { token: 'withdrawn' });
  const person = await newPerson(on, {
    login_url: practice.page('/login'),
    credential: { provider: 'bao', path: 'sites/practice' },
  });
  await person.login();
  expect(await person.waitForEnd()).toMatchObject({ error_code: 'credential_provider_refused' });
  await kernel.credentialProviders.update(providerId, { token: TOKEN, name: 'renamed' });
  expect(await person.read()).toMatchObject({ credential: { provider: 'renamed', path: 'sites/practice' } });
  await person.login();
  await person.waitForSuccess();
});
