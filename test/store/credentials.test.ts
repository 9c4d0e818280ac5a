import { describe, expect, it } from 'vitest';
import { MAX_PASSKEYS } from '../../contract/passkeys.ts';
import { newPasskey } from '../setup/passkey.ts';
import { SCOPE, useStore } from './databases.ts';

describe('credentials', () => {
  const context = useStore();

  it('keep values write-only, and open them for activities', async () => {
    const { store } = context();
    const created = await store.credentials.create(SCOPE, {
      name: 'shop',
      domain: 'shop.example',
      values: { username: 'ann', password: 'p\u0000w 密' },
      totpSecret: 'JBSWY3DPEHPK3PXP',
    });
    expect(created).toMatchObject({ valueKeys: ['username', 'password'], hasTotpSecret: true, version: 1 });
    expect(JSON.stringify(created)).not.toContain('JBSW');
    expect(await store.credentials.find(SCOPE, 'shop')).toEqual(created);
    expect(await store.credentials.find(SCOPE, created.id)).toEqual(created);
    expect(await store.credentials.open(created.id)).toEqual({
      values: { username: 'ann', password: 'p\u0000w 密' },
      totpSecret: 'JBSWY3DPEHPK3PXP',
      passkeys: [],
      version: 1,
      domain: 'shop.example',
      ssoProvider: null,
      origins: {},
    });
    await expect(
      store.credentials.create(SCOPE, { name: 'shop', domain: 'x.example', values: {} }),
    ).rejects.toMatchObject({ code: 'already_exists' });
  });

  it('are patched: keys are removed first, then values merged; an empty TOTP secret removes it', async () => {
    const { store } = context();
    const { id } = await store.credentials.create(SCOPE, {
      name: 'patch me',
      domain: 'p.example',
      values: { a: '1', b: '2' },
      totpSecret: 'JBSWY3DPEHPK3PXP',
    });
    const patched = await store.credentials.patch(SCOPE, 'patch me', {
      removeValueKeys: ['a', 'b'],
      values: { b: '3', c: '4' },
      totpSecret: '',
      name: 'patched/ünd',
    });
    expect(patched).toMatchObject({ name: 'patched/ünd', valueKeys: ['b', 'c'], hasTotpSecret: false, version: 2 });
    expect(await store.credentials.open(id)).toMatchObject({ values: { b: '3', c: '4' }, totpSecret: null });
    expect(await store.credentials.patch(SCOPE, id, { ssoProvider: 'google' })).toMatchObject({
      version: 2,
      ssoProvider: 'google',
    });
    expect(await store.credentials.patch(SCOPE, 'nobody', {})).toBeNull();
    await store.credentials.create(SCOPE, { name: 'taken', domain: 'p.example', values: {} });
    await expect(store.credentials.patch(SCOPE, id, { name: 'taken' })).rejects.toMatchObject({
      code: 'already_exists',
    });
  });

  it('store passkeys by credential id, and record signature counts', async () => {
    const { store } = context();
    const [first, second] = [newPasskey('first', { sign_count: 3 }), newPasskey('second')];
    const passkeys = [first, second];
    const { id, ...shown } = await store.credentials.create(SCOPE, {
      name: 'keys',
      domain: 'k.example',
      values: {},
      passkeys,
    });
    const names = passkeys.map(({ credential_id, rp_id }) => ({ credential_id, rp_id }));
    expect(shown).toMatchObject({ passkeys: names, version: 1 });
    expect(JSON.stringify(shown)).not.toContain(first.private_key);
    await store.credentials.recordSignCounts(id, new Map([[first.credential_id, 5]]));
    await store.credentials.recordSignCounts(id, new Map([[first.credential_id, 4]]));
    expect(await store.credentials.open(id)).toMatchObject({
      passkeys: [{ ...first, sign_count: 5 }, second],
      version: 1,
    });
    const renewed = { ...second, private_key: newPasskey('x').private_key };
    const patch = { removePasskeys: [first.credential_id], passkeys: [renewed] };
    expect(await store.credentials.patch(SCOPE, id, patch)).toMatchObject({ passkeys: [names[1]], version: 2 });
    expect((await store.credentials.open(id))?.passkeys).toEqual([renewed]);
    const many = Array.from({ length: MAX_PASSKEYS }, (_, index) => newPasskey(`k${index}`));
    await expect(store.credentials.patch(SCOPE, id, { passkeys: many })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it('keep the origin of a typed value when it is replaced, until it is removed', async () => {
    const { store } = context();
    const origins = { username: 'https://id.example', password: 'https://id.example' };
    const values = { username: 'ann', password: '1' };
    const { id } = await store.credentials.create(SCOPE, { name: 'typed', domain: 'o.example', values, origins });
    await store.credentials.patch(SCOPE, id, { removeValueKeys: ['username'], values: { password: '2', pin: '3' } });
    expect(await store.credentials.open(id)).toMatchObject({
      values: { password: '2', pin: '3' },
      domain: 'o.example',
      origins: { password: 'https://id.example' },
    });
    await store.credentials.patch(SCOPE, id, { values: { pin: '4' }, origins: { pin: 'https://o.example' } });
    expect(await store.credentials.find(SCOPE, id)).toMatchObject({
      origins: { password: 'https://id.example', pin: 'https://o.example' },
    });
  });

  it('lose nothing when two logins merge concurrently', async () => {
    const { store } = context();
    const { id } = await store.credentials.create(SCOPE, { name: 'merge', domain: 'm.example', values: {} });
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.credentials.patch(SCOPE, id, { values: { [`k${index}`]: `${index}` } }),
      ),
    );
    expect(await store.credentials.find(SCOPE, id)).toMatchObject({ version: 21 });
    expect(Object.keys((await store.credentials.open(id))?.values ?? {})).toHaveLength(20);
  });

  it('are listed by domain and part of the name, and removed', async () => {
    const { store } = context();
    const project = await store.projects.create(SCOPE.organizationId, { name: 'creds' });
    const scope = { ...SCOPE, projectId: project.id };
    for (const name of ['One', 'Two', 'Three'])
      await store.credentials.create(scope, { name, domain: `${name}.example`, values: {} });
    const names = async (filter: { domain?: string; query?: string }) =>
      (await store.credentials.list(scope, { limit: 10, offset: 0, ...filter })).rows.map((row) => row.name);
    expect(await names({})).toEqual(expect.arrayContaining(['One', 'Two', 'Three']));
    expect(await names({ query: 'tHr' })).toEqual(['Three']);
    expect(await names({ domain: 'Two.example' })).toEqual(['Two']);
    expect(await store.credentials.remove({ ...SCOPE, projectId: SCOPE.projectId }, 'One')).toBe(false);
    expect(await store.credentials.remove(scope, 'One')).toBe(true);
    expect(await store.credentials.find(scope, 'One')).toBeNull();
  });

  it('claim a TOTP period once', async () => {
    const { store } = context();
    const claims = await Promise.all(Array.from({ length: 20 }, () => store.totpUses.claim('cred_x', 12345)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await store.totpUses.claim('cred_x', 12346)).toBe(true);
    expect(await store.totpUses.claim('cred_y', 12345)).toBe(true);
  });
});
