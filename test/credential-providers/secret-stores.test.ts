import { describe, expect, it } from 'vitest';
import { bitwardenAnswers } from './bitwarden-stand-in.ts';
import { onePasswordAnswers } from './connect-stand-in.ts';
import { connectTo, TARGET } from './connected-store.ts';
import { awsAnswers, SHOP_PASSKEY, TOKEN, vaultAnswers, type VaultSecrets } from './stand-ins.ts';

let now = 0;

const SECRETS: VaultSecrets = {
  'sites/shop': {
    data: { login: 'ann', password: 'pw-vault', totp: 'JBSWY3DPEHPK3PXP', passkeys: [SHOP_PASSKEY] },
    url: 'https://shop.example',
    version: 3,
  },
  'sites/bänk ü': { data: { email: 'ann@bank.example', pwd: 'pw-bank', domain: 'bank.example' } },
  numbers: { data: { user: 'ann', pin: 1234, nested: { not: 'typed' } } },
};

describe('an item by its path, and by the domain of its connection', () => {
  it.each([
    [
      'onepassword',
      onePasswordAnswers,
      'Team/Shop',
      { id: 'v1', name: 'Team' },
      { version: 7, valueKeys: ['username', 'password', 'customer_number'] },
    ],
    [
      'vault',
      vaultAnswers(() => SECRETS),
      'secret/sites/shop',
      { id: 'secret', name: 'secret' },
      { version: 3, valueKeys: ['username', 'password'] },
    ],
    [
      'bitwarden',
      bitwardenAnswers,
      'Work/Shop',
      { id: 'f1', name: 'Work' },
      { ssoProvider: 'github', valueKeys: ['username', 'password'] },
    ],
    [
      'aws_secrets_manager',
      awsAnswers,
      'shop',
      { id: 'us-east-1', name: 'us-east-1' },
      { version: 1000, valueKeys: ['username', 'password'] },
    ],
  ] as const)('%s', async (type, answers, path, vault, expected) => {
    const { external } = await connectTo(type, answers);
    const { facts } = await external.find(TARGET, { provider: 'store', path });
    expect(facts).toMatchObject({ hasTotpSecret: true, hasPasskey: true, ...expected });
    const opened = await external.open(TARGET, facts.id);
    expect(opened.values.username).toMatch(/^ann/);
    expect(opened.values.password).toMatch(/^pw-/);
    expect(opened.totpSecret).toContain('JBSWY3DPEHPK3PXP');
    expect(opened.passkeys[0]).toEqual(SHOP_PASSKEY);

    const { facts: byDomain } = await external.find(
      { ...TARGET, domain: 'www.shop.example' },
      { provider: 'store', auto: true },
    );
    expect((await external.open(TARGET, byDomain.id)).values).toEqual(opened.values);
    const tried = await external.test('org', 'cpv_1');
    expect(tried.success).toBe(true);
    expect(tried.vaults).toContainEqual(vault);
    await expect(external.find(TARGET, { provider: 'store', path: 'Nowhere/Nothing' })).rejects.toMatchObject({
      code: 'credential_item_not_found',
    });
    await expect(
      external.find({ ...TARGET, domain: 'other.example' }, { provider: 'store', auto: true }),
    ).rejects.toMatchObject({ code: 'credential_item_not_found' });
  });

  it('lists folders, names in any script, and sites named by the secret itself', async () => {
    const { external } = await connectTo(
      'vault',
      vaultAnswers(() => SECRETS),
    );
    expect((await external.items('org', 'cpv_1')).map(({ path, urls }) => [path, urls])).toEqual([
      ['secret/sites/shop', ['https://shop.example']],
      ['secret/sites/bänk ü', ['bank.example']],
      ['secret/numbers', []],
    ]);
    const { facts: bank } = await external.find(
      { ...TARGET, domain: 'login.bank.example' },
      { provider: 'store', auto: true },
    );
    expect(bank.valueKeys).toEqual(['email', 'password']);
    const { facts: numbers } = await external.find(TARGET, { provider: 'store', path: 'numbers' });
    expect((await external.open(TARGET, numbers.id)).values).toEqual({ username: 'ann', pin: '1234' });
  });

  it('treats a secret that is not JSON as a password', async () => {
    const { external } = await connectTo('aws_secrets_manager', awsAnswers);
    const { facts } = await external.find(TARGET, { provider: 'store', path: 'plain' });
    expect((await external.open(TARGET, facts.id)).values).toEqual({ password: 'only-a-password' });
  });

  it('reads every Bitwarden passkey whose key a browser can use', async () => {
    const { external } = await connectTo('bitwarden', bitwardenAnswers);
    const { facts, passkeys } = await external.find(TARGET, { provider: 'store', path: 'Shop' });
    const elsewhere = Buffer.from('from elsewhere').toString('base64url');
    const { rp_id } = SHOP_PASSKEY;
    expect(passkeys).toEqual([
      { credential_id: SHOP_PASSKEY.credential_id, rp_id },
      { credential_id: elsewhere, rp_id },
    ]);
    expect((await external.open(TARGET, facts.id)).passkeys.at(1)).toMatchObject({
      credential_id: elsewhere,
      sign_count: 9,
    });
  });

  it('reads passkeys in every import format, reports unknown formats, and treats a code of that name as a value', async () => {
    const { credential_id: credentialId, rp_id: rpId, user_handle: userHandle, private_key: key } = SHOP_PASSKEY;
    const exchanged = { type: 'passkey', credentialId, rpId, userHandle, key };
    const secrets: VaultSecrets = {
      item: { data: { passkeys: { credentials: [exchanged] } } },
      text: { data: { passkeys: JSON.stringify(SHOP_PASSKEY) } },
      broken: { data: { passkeys: [{ ...SHOP_PASSKEY, private_key: 'AAAA' }] } },
      code: { data: { passkey: '4711' } },
    };
    const { external } = await connectTo(
      'vault',
      vaultAnswers(() => secrets),
    );
    const open = async (path: string) =>
      await external.open(TARGET, (await external.find(TARGET, { provider: 'store', path })).facts.id);
    const { user_name: _name, ...nameless } = SHOP_PASSKEY;
    expect((await open('item')).passkeys).toEqual([nameless]);
    expect(await open('text')).toMatchObject({ passkeys: [SHOP_PASSKEY], values: {} });
    expect(await open('code')).toMatchObject({ passkeys: [], values: { passkey: '4711' } });
    const error: unknown = await open('broken').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'credential_item_not_found',
      message: expect.stringContaining('`passkeys`') as unknown,
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SHOP_PASSKEY.credential_id);
  });

  it('distinguishes matching items by host, and never guesses between two for the same host', async () => {
    const secrets: VaultSecrets = {
      a: { data: { password: '1' }, url: 'https://shop.example' },
      b: { data: { password: '2' }, url: 'https://admin.shop.example' },
    };
    const { external } = await connectTo(
      'vault',
      vaultAnswers(() => secrets),
      { cacheTtlSeconds: 0 },
    );
    const auto = { provider: 'store', auto: true };
    expect((await external.find({ ...TARGET, domain: 'admin.shop.example' }, auto)).facts.id).toBe('cpv_1/b');
    await expect(external.find({ ...TARGET, domain: 'my.shop.example' }, auto)).rejects.toMatchObject({
      code: 'credential_item_ambiguous',
    });
    secrets.c = { data: { password: '3' }, url: 'https://shop.example/other' };
    await expect(external.find(TARGET, auto)).rejects.toMatchObject({ code: 'credential_item_ambiguous' });
  });
});

describe('the cache', () => {
  it('holds item ids and field names for the TTL, and never a value', async () => {
    let password = 'first';
    const { external, stand } = await connectTo(
      'vault',
      vaultAnswers(() => ({ shop: { data: { password } } })),
      {
        cacheTtlSeconds: 60,
      },
      () => now,
    );
    const { facts } = await external.find(TARGET, { provider: 'store', path: 'shop' });
    const calls = stand.calls.length;
    await external.find(TARGET, { provider: 'store', path: 'shop' });
    expect(stand.calls).toHaveLength(calls);
    password = 'second';
    expect((await external.open(TARGET, facts.id)).values).toEqual({ password: 'second' });
    now += 60_001;
    await external.find(TARGET, { provider: 'store', path: 'shop' });
    expect(stand.calls).toHaveLength(calls + 2);
  });
});

describe('a failing secret store', () => {
  const reference = { provider: 'store', path: 'Team/Shop' };

  it.each([
    ['onepassword', onePasswordAnswers],
    ['vault', vaultAnswers(() => SECRETS)],
    ['bitwarden', bitwardenAnswers],
    ['aws_secrets_manager', awsAnswers],
  ] as const)('%s refuses a wrong token', async (type, answers) => {
    const { external } = await connectTo(type, answers, { token: 'AKIDEXAMPLE:wrong' });
    await expect(external.find(TARGET, reference)).rejects.toMatchObject({ code: 'credential_provider_refused' });
    const tried = await external.test('org', 'cpv_1');
    expect(tried).toMatchObject({ success: false, vaults: [] });
    expect(tried.error).toMatch(/token/);
  });

  it.each([
    ['answers with an error', [500, { message: `leaks ${TOKEN}` }]],
    ['answers something else', [200, { surprise: TOKEN }]],
    ['leads elsewhere', [302, {}, { location: 'http://169.254.169.254/' }]],
  ] as const)('is unavailable when it %s, and none of its words are passed on', async (_how, answer) => {
    const { external, stand } = await connectTo('onepassword', () => [...answer]);
    const error: unknown = await external.find(TARGET, reference).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'credential_provider_unavailable' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('a-token-that-nobody');
    expect(stand.calls).toHaveLength(1);
  });

  it('is unavailable without an address, at an address that is not allowed, and if nothing listens', async () => {
    const unset = await connectTo('onepassword', onePasswordAnswers, { address: null });
    expect((await unset.external.test('org', 'cpv_1')).error).toContain('`address`');
    const hidden = await connectTo('onepassword', onePasswordAnswers, { address: 'http://127.0.0.1:1' });
    await expect(hidden.external.find(TARGET, reference)).rejects.toMatchObject({
      code: 'credential_provider_unavailable',
    });
    const away = await connectTo('onepassword', onePasswordAnswers);
    await away.stand.close();
    await expect(away.external.find(TARGET, reference)).rejects.toMatchObject({
      code: 'credential_provider_unavailable',
    });
  });

  it('is unknown once it is deleted or disabled', async () => {
    const { external, account } = await connectTo('onepassword', onePasswordAnswers);
    const unknown = { code: 'credential_provider_unknown' };
    await expect(external.find(TARGET, { provider: 'nobody', path: 'x' })).rejects.toMatchObject(unknown);
    await expect(external.find({ ...TARGET, organizationId: 'other' }, reference)).rejects.toMatchObject(unknown);
    account.enabled = false;
    await expect(external.find(TARGET, reference)).rejects.toMatchObject(unknown);
  });
});
