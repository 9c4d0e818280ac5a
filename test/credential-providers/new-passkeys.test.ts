import { describe, expect, it } from 'vitest';
import { MAX_PASSKEYS } from '../../contract/passkeys.ts';
import { passkeyAdder } from '../../credential-providers/item-fields.ts';
import { newPasskey } from '../setup/passkey.ts';
import { connectAnswers, connectItem } from './connect-stand-in.ts';
import { connectTo, TARGET } from './connected-store.ts';
import { add, readAgain, REFERENCE, told, TITLED } from './new-passkeys.ts';
import { SHOP_PASSKEY, vaultAnswers, writableAwsAnswers, type AwsSecret, type VaultSecrets } from './stand-ins.ts';

const NEW = newPasskey('made by the site');

describe('a new passkey in Vault', () => {
  const item = { login: 'ann', password: 'pw', pin: 1234, nested: { kept: [1, null] } };

  it('is added once, keeps the rest, and is available to the next login at once', async () => {
    const secrets: VaultSecrets = { shop: { data: { ...item }, version: 3 } };
    const { external, stand } = await connectTo(
      'vault',
      vaultAnswers(() => secrets),
    );
    expect((await external.find(TARGET, REFERENCE)).facts).toMatchObject({ takesPasskeys: true });
    await add(external, NEW);
    await add(external, NEW);
    expect(secrets['shop']).toEqual({ data: { ...item, passkeys: [NEW] }, version: 4 });
    // Nothing but the field of passkeys is sent.
    const patches = stand.calls.filter(({ method }) => method === 'PATCH');
    expect(patches.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
      { options: { cas: 3 }, data: { passkeys: [NEW] } },
    ]);
    const { facts } = await external.find(TARGET, REFERENCE);
    expect(facts.hasPasskey).toBe(true);
    expect((await external.open(TARGET, facts.id)).passkeys).toEqual([NEW]);
  });

  it('is retried once with the new item after a concurrent change, but not twice', async () => {
    const secrets: VaultSecrets = { shop: { data: { ...item, passkeys: [SHOP_PASSKEY] }, version: 3 } };
    let meanwhile = 1;
    const { external, stand } = await connectTo('vault', (call) => {
      const shop = secrets['shop'];
      if (call.method === 'PATCH' && shop !== undefined && meanwhile-- > 0)
        secrets['shop'] = { data: { ...shop.data, password: 'changed' }, version: (shop.version ?? 1) + 1 };
      return vaultAnswers(() => secrets)(call);
    });
    await add(external, NEW);
    expect(secrets['shop']?.data).toEqual({ ...item, password: 'changed', passkeys: [SHOP_PASSKEY, NEW] });

    meanwhile = 9;
    const other = newPasskey('another');
    const { code, text } = await told(add(external, other));
    expect(code).toBe('credential_provider_unavailable');
    expect(text).not.toContain(other.private_key);
    expect(stand.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(4);
    expect(secrets['shop']?.data).toMatchObject({ passkeys: [SHOP_PASSKEY, NEW] });
  });

  it('is refused if the token is read-only', async () => {
    const secrets: VaultSecrets = { shop: { data: { ...item }, readOnly: true } };
    const { external } = await connectTo(
      'vault',
      vaultAnswers(() => secrets),
    );
    const { code, text } = await told(add(external, NEW));
    expect(code).toBe('credential_provider_refused');
    expect(text).not.toContain(NEW.private_key);
    expect(secrets['shop']?.data).toEqual(item);
  });
});

describe('a new passkey in AWS Secrets Manager', () => {
  const item = { user: 'ann', Password: 'pw', nested: { kept: true } };

  it('creates a version that replaces the one that was read', async () => {
    const secret: AwsSecret = { versions: { first: JSON.stringify(item) }, current: 'first' };
    const { external } = await connectTo('aws_secrets_manager', writableAwsAnswers(secret));
    await add(external, NEW);
    await add(external, NEW);
    expect(Object.keys(secret.versions)).toHaveLength(2);
    expect(JSON.parse(secret.versions[secret.current] ?? '')).toEqual({ ...item, passkeys: [NEW] });
  });

  it('does not replace a version created concurrently', async () => {
    const secret: AwsSecret = { versions: { first: JSON.stringify(item) }, current: 'first' };
    let meanwhile = 1;
    const { external } = await connectTo('aws_secrets_manager', (call) => {
      if (String(call.headers['x-amz-target']).endsWith('PutSecretValue') && meanwhile-- > 0) {
        secret.versions['rotated'] = JSON.stringify({ ...item, Password: 'rotated' });
        secret.current = 'rotated';
      }
      return writableAwsAnswers(secret)(call);
    });
    await add(external, NEW);
    const now: unknown = JSON.parse(secret.versions[secret.current] ?? '');
    expect(now).toEqual({ ...item, Password: 'rotated', passkeys: [NEW] });
  });

  it('is not offered if the secret is a plain password', async () => {
    const secret: AwsSecret = { versions: { first: 'only-a-password' }, current: 'first' };
    const { external } = await connectTo('aws_secrets_manager', writableAwsAnswers(secret));
    expect((await external.find(TARGET, REFERENCE)).facts.takesPasskeys).toBeUndefined();
    expect((await told(add(external, NEW))).code).toBe('credential_provider_refused');
    expect(secret.current).toBe('first');
  });
});

describe('a new passkey in 1Password', () => {
  it('is added as a field, once, and is available to the next login', async () => {
    const item = connectItem();
    const { external, stand } = await connectTo('onepassword', connectAnswers(item));
    await add(external, NEW, TITLED);
    await add(external, NEW, TITLED);
    const { fields: before } = connectItem();
    expect(item.fields.slice(0, before.length)).toEqual(before);
    expect(item.fields.slice(before.length)).toMatchObject([{ type: 'CONCEALED', value: JSON.stringify(NEW) }]);
    expect(stand.calls.filter(({ method }) => method === 'PATCH')).toHaveLength(1);
    expect(await readAgain(external)).toEqual([SHOP_PASSKEY, NEW]);
  });

  it('keeps concurrent changes, and is written only once if the response is lost', async () => {
    const item = connectItem();
    const answers = connectAnswers(item);
    const other = newPasskey('another login');
    let lost = 1;
    const { external } = await connectTo('onepassword', (call) => {
      if (call.method !== 'PATCH') return answers(call);
      item.fields = item.fields.map((field) => (field.id === 'password' ? { ...field, value: 'changed' } : field));
      item.fields.push({ id: 'other', type: 'CONCEALED', label: 'passkey', value: JSON.stringify(other) });
      const answer = answers(call);
      return lost-- > 0 ? [500, { status: 500, message: 'lost' }] : answer;
    });
    const { code, text } = await told(add(external, NEW, TITLED));
    expect(code).toBe('credential_provider_unavailable');
    expect(text).not.toContain(NEW.private_key);
    await add(external, NEW, TITLED);
    expect(item.fields.filter(({ value }) => value === JSON.stringify(NEW))).toHaveLength(1);
    expect(item.fields.find(({ id }) => id === 'password')?.value).toBe('changed');
    expect(await readAgain(external)).toEqual([SHOP_PASSKEY, other, NEW]);
  });

  it('written by two logins at the same time is read as one', async () => {
    const item = connectItem();
    const { external } = await connectTo('onepassword', connectAnswers(item));
    const { fields } = connectItem();
    const twice = ['a', 'b'].map((id) => ({ id, label: 'passkey', value: JSON.stringify(NEW) }));
    item.fields = [...fields, ...twice];
    expect(await readAgain(external)).toEqual([SHOP_PASSKEY, NEW]);
  });

  it('is retried once after a conflict, and refused if the token is read-only', async () => {
    const item = connectItem();
    const answers = connectAnswers(item);
    let conflicts = 1;
    const { external } = await connectTo('onepassword', (call) =>
      call.method === 'PATCH' && conflicts-- > 0 ? [409, { status: 409, message: 'conflict' }] : answers(call),
    );
    await add(external, NEW, TITLED);
    item.readOnly = true;
    const { code } = await told(add(external, newPasskey('another'), TITLED));
    expect(code).toBe('credential_provider_refused');
    expect(await readAgain(external)).toEqual([SHOP_PASSKEY, NEW]);
  });
});

describe('the field that holds the passkeys', () => {
  const list = [SHOP_PASSKEY, NEW];
  it.each([
    ['a list', { passkeys: [SHOP_PASSKEY] }, { name: 'passkeys', value: list }],
    ['one alone, under the name it has', { Passkey: SHOP_PASSKEY }, { name: 'Passkey', value: list }],
    ['a text', { passkeys: JSON.stringify([SHOP_PASSKEY]) }, { name: 'passkeys', value: JSON.stringify(list) }],
    ['nothing', { password: 'x' }, { name: 'passkeys', value: [NEW] }],
  ])('grows by one: %s', (_what, fields, expected) => {
    expect(passkeyAdder(fields)?.(NEW)).toEqual(expected);
  });

  it('is unchanged if it has the passkey, or if its format would lose data', () => {
    expect(passkeyAdder({ passkeys: [NEW] })?.(NEW)).toBeNull();
    const full = Array.from({ length: MAX_PASSKEYS }, (_, index) => newPasskey(`number ${index}`));
    for (const fields of [
      { passkeys: { credentials: [] } },
      { passkey: '4711' },
      { passkey: NEW, passkeys: [] },
      { passkeys: full },
    ])
      expect(passkeyAdder(fields)).toBeUndefined();
  });
});
