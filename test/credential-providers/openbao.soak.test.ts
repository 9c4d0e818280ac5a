import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createExternalCredentials,
  type ExternalCredentials,
  type OpenedProvider,
} from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { startOpenBao, type OpenBao } from '../setup/openbao.ts';
import { newPasskey } from '../setup/passkey.ts';

/** How long OpenBao's server may take to be fetched, where there is none yet, and to start, in milliseconds. */
const READY_MS = 600_000;
const TARGET = { organizationId: 'org', domain: 'shop.example' };
const AUTO = { provider: 'bao', auto: true };
const at = (path: string) => ({ provider: 'bao', path });
const PASSKEY = newPasskey('in OpenBao', { sign_count: 3 });

let bao: OpenBao;
beforeAll(async () => {
  bao = await startOpenBao();
  await put('secret', 'sites/shop', { login: 'ann', password: 'pw-1', otp: 'JBSWY3DPEHPK3PXP', passkeys: [PASSKEY] });
  await bao.call('POST', 'secret/metadata/sites/shop', { custom_metadata: { url: 'https://shop.example' } });
  await put('secret', 'sites/bänk ü', { email: 'ann@bank.example', pwd: 'pw-bank', domain: 'bank.example', pin: 1234 });
  await put('secret', 'top', { password: 'only' });
}, READY_MS);
afterAll(() => bao.stop());

const put = (mount: string, path: string, data: object, namespace?: string) =>
  bao.call('POST', `${mount}/data/${path.split('/').map(encodeURIComponent).join('/')}`, { data }, namespace);

function connect(change: Partial<OpenedProvider> = {}): ExternalCredentials {
  const account: OpenedProvider = {
    id: 'cpv_1',
    type: 'vault',
    token: bao.rootToken,
    address: bao.address,
    mount: null,
    namespace: null,
    region: null,
    enabled: true,
    cacheTtlSeconds: 0,
    updatedAt: new Date(0),
    ...change,
  };
  return createExternalCredentials({
    providers: { open: () => Promise.resolve(account) },
    egress: createEgressPolicy(bao.host),
  });
}

/** A token that may do these things and nothing else. */
async function tokenFor(capabilities: Record<string, string[]>): Promise<string> {
  const rules = Object.entries(capabilities).map(([path, may]) => [path, { capabilities: may }] as const);
  await bao.call('POST', 'sys/policies/acl/some', { policy: JSON.stringify({ path: Object.fromEntries(rules) }) });
  const { client_token: token } = await bao.call('POST', 'auth/token/create', { policies: ['some'], ttl: '1h' });
  return String(token);
}

it('finds an item by its path and by its domain, and reads it', async () => {
  const external = connect();
  for (const path of ['sites/shop', 'secret/sites/shop', '/sites/shop/']) {
    const { facts, sites, passkeys } = await external.find(TARGET, at(path));
    expect(facts).toMatchObject({ valueKeys: ['username', 'password'], hasTotpSecret: true, hasPasskey: true });
    expect(sites).toEqual(['https://shop.example']);
    expect(passkeys).toEqual([{ credential_id: PASSKEY.credential_id, rp_id: 'shop.example' }]);
  }
  const { facts } = await external.find({ ...TARGET, domain: 'www.shop.example' }, AUTO);
  expect(await external.open(TARGET, facts.id)).toMatchObject({
    values: { username: 'ann', password: 'pw-1' },
    totpSecret: 'JBSWY3DPEHPK3PXP',
    passkeys: [PASSKEY],
  });
  const bank = await external.find({ ...TARGET, domain: 'bank.example' }, AUTO);
  expect((await external.open(TARGET, bank.facts.id)).values).toEqual({
    email: 'ann@bank.example',
    password: 'pw-bank',
    pin: '1234',
  });
  expect(await external.test('org', 'cpv_1')).toEqual({ success: true, vaults: [{ id: 'secret', name: 'secret' }] });
  expect((await external.items('org', 'cpv_1')).map(({ path }) => path).toSorted()).toEqual([
    'secret/sites/bänk ü',
    'secret/sites/shop',
    'secret/top',
  ]);
});

it('reads a new version, but no deleted or destroyed one', async () => {
  const external = connect();
  await put('secret', 'changing', { password: 'first' });
  const { facts } = await external.find(TARGET, at('changing'));
  expect(facts.version).toBe(1);
  await put('secret', 'changing', { password: 'second' });
  expect(await external.open(TARGET, facts.id)).toMatchObject({ version: 2, values: { password: 'second' } });
  await bao.call('DELETE', 'secret/data/changing');
  const gone = { code: 'credential_item_not_found' };
  await expect(external.open(TARGET, facts.id)).rejects.toMatchObject(gone);
  await expect(external.find(TARGET, at('changing'))).rejects.toMatchObject(gone);
  await bao.call('DELETE', 'secret/metadata/changing');
  await expect(external.find(TARGET, at('changing'))).rejects.toMatchObject(gone);
});

it('needs only read and list permissions, and reports missing ones', async () => {
  const read = { 'secret/data/*': ['read'] };
  const list = { 'secret/metadata/*': ['read', 'list'], 'secret/metadata': ['list'] };
  const reader = connect({ token: await tokenFor({ ...read, ...list }) });
  expect((await reader.find(TARGET, AUTO)).facts.id).toBe('cpv_1/sites/shop');
  expect((await reader.test('org', 'cpv_1')).success).toBe(true);

  const refused = { code: 'credential_provider_refused' };
  const lister = connect({ token: await tokenFor(list) });
  await expect(lister.find(TARGET, at('sites/shop'))).rejects.toMatchObject(refused);
  const unlisting = connect({ token: await tokenFor(read) });
  expect((await unlisting.find(TARGET, at('sites/shop'))).facts.hasPasskey).toBe(true);
  await expect(unlisting.find(TARGET, AUTO)).rejects.toMatchObject(refused);
  const stranger = connect({ token: 'nobody' });
  await expect(stranger.find(TARGET, at('sites/shop'))).rejects.toMatchObject(refused);
  expect((await stranger.test('org', 'cpv_1')).error).toMatch(/token/);
});

it('adds a new passkey and keeps the rest, if the token may patch and the secret has not changed', async () => {
  const made = newPasskey('made by the site');
  await put('secret', 'made', { password: 'pw', nested: { kept: [1] } });
  const rights = { 'secret/data/made': ['read', 'patch'] };
  const external = connect({ token: await tokenFor(rights) });
  const { facts } = await external.find(TARGET, at('made'));
  expect(facts.takesPasskeys).toBe(true);
  await Promise.all([
    external.addPasskeys(TARGET, facts.id, [made]),
    external.addPasskeys(TARGET, facts.id, [PASSKEY]),
  ]);
  const { version, values, passkeys } = await external.open(TARGET, facts.id);
  expect([version, values, new Set(passkeys)]).toEqual([3, { password: 'pw' }, new Set([made, PASSKEY])]);
  const reader = connect({ token: await tokenFor({ 'secret/data/made': ['read'] }) });
  await expect(reader.addPasskeys(TARGET, facts.id, [newPasskey('another')])).rejects.toMatchObject({
    code: 'credential_provider_refused',
  });
});

it('supports another mount and a namespace', async () => {
  await bao.call('POST', 'sys/namespaces/team');
  await bao.call('POST', 'sys/mounts/web/logins', { type: 'kv', options: { version: '2' } }, 'team');
  // An engine that was just mounted makes its storage ready first.
  const stored = () =>
    put('web/logins', 'shop', { password: 'of the team' }, 'team').then(
      () => true,
      () => false,
    );
  await expect.poll(stored).toBe(true);
  const external = connect({ mount: 'web/logins', namespace: 'team' });
  const { facts } = await external.find(TARGET, at('web/logins/shop'));
  expect((await external.open(TARGET, facts.id)).values).toEqual({ password: 'of the team' });
  await expect(connect().find(TARGET, at('shop'))).rejects.toMatchObject({ code: 'credential_item_not_found' });
});
