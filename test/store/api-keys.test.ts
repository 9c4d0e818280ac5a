import { describe, expect, it } from 'vitest';
import { isPlausibleApiKey, newApiKey } from '../../store/secret-tokens.ts';
import { SCOPE, useStore } from './databases.ts';

const CREATED_BY = { id: 'usr_1', email: 'ann@example.com', name: null };
const WHOLE = { organizationId: SCOPE.organizationId, projectId: null };

it('creates keys whose checksum detects every mistyped character', () => {
  const keys = Array.from({ length: 200 }, newApiKey);
  expect(new Set(keys).size).toBe(200);
  for (const key of keys) {
    expect(key).toMatch(/^hf_live_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(isPlausibleApiKey(key)).toBe(true);
  }
  const key = keys[0] ?? '';
  for (let at = 'hf_live_'.length; at < key.length; at += 1) {
    if (key[at] === '_') continue;
    const wrong = key.slice(0, at) + (key[at] === 'x' ? 'y' : 'x') + key.slice(at + 1);
    expect(isPlausibleApiKey(wrong)).toBe(false);
  }
  expect(isPlausibleApiKey('short')).toBe(false);
});

describe('API keys', () => {
  const context = useStore();

  it('are shown once, found by hash, renamed, rotated, and rejected on the request after revocation', async () => {
    const { store } = context();
    const made = await store.apiKeys.create(WHOLE, {
      name: 'ci',
      expiresAt: null,
      projectId: SCOPE.projectId,
      createdBy: CREATED_BY,
    });
    expect(made.record).toMatchObject({ name: 'ci', projectId: SCOPE.projectId, projectName: 'Default' });
    expect(made.record.createdBy).toEqual(CREATED_BY);
    expect(await store.apiKeys.authenticate(made.key)).toEqual(made.record);
    expect(made.record.maskedKey).not.toContain(made.key.slice(12, -2));
    expect(await store.apiKeys.rename(WHOLE, made.record.id, 'cd')).toMatchObject({ name: 'cd' });
    const inAMinute = new Date(Date.now() + 60_000);
    const change = { expiresAt: null, formerExpiresAt: inAMinute, createdBy: CREATED_BY };
    const rotated = await store.apiKeys.rotate(WHOLE, made.record.id, change);
    expect(rotated?.record).toMatchObject({ name: 'cd', projectId: SCOPE.projectId, expiresAt: null });
    expect(rotated?.record.id).not.toBe(made.record.id);
    expect(await store.apiKeys.authenticate(made.key)).toMatchObject({ expiresAt: inAMinute });
    await store.apiKeys.rotate(WHOLE, made.record.id, { ...change, formerExpiresAt: new Date(Date.now() + 120_000) });
    expect(await store.apiKeys.find(WHOLE, made.record.id)).toMatchObject({ expiresAt: inAMinute });
    expect(await store.apiKeys.authenticate(rotated?.key ?? '')).toMatchObject({ name: 'cd' });
    expect(await store.apiKeys.remove(WHOLE, made.record.id)).toBe(true);
    expect(await store.apiKeys.authenticate(made.key)).toBeNull();
    expect(await store.apiKeys.find(WHOLE, made.record.id)).toBeNull();
    expect(await store.apiKeys.rotate(WHOLE, made.record.id, change)).toBeNull();
    const all = await store.apiKeys.list(WHOLE, { limit: 100, offset: 0, includeDeleted: true });
    expect(all.rows.find((row) => row.id === made.record.id)?.deletedAt).toBeInstanceOf(Date);
  });

  it('expire', async () => {
    const { store, open } = context();
    const { key } = await store.apiKeys.create(WHOLE, {
      name: 'brief',
      expiresAt: new Date(Date.now() + 60_000),
      projectId: null,
      createdBy: CREATED_BY,
    });
    expect(await store.apiKeys.authenticate(key)).not.toBeNull();
    expect(await open({ clock: () => new Date(Date.now() + 61_000) }).apiKeys.authenticate(key)).toBeNull();
  });

  it('of the operator are registered once, organization-wide', async () => {
    const { store } = context();
    const key = 'chosen by the operator, 20+';
    await store.bootstrap({ plan: 'startup', apiKey: key });
    await store.bootstrap({ plan: 'startup', apiKey: key });
    expect(await store.apiKeys.authenticate(key)).toMatchObject({ projectId: null });
    expect((await store.organizations.find(SCOPE.organizationId))?.plan).toBe('startup');
    await expect(store.bootstrap({ plan: 'startup', apiKey: 'short' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const { rows } = await store.apiKeys.list(WHOLE, { limit: 100, offset: 0 });
    expect(rows.filter((row) => row.name === 'Set-up')).toHaveLength(1);
  });

  it('of a project cannot access other projects', async () => {
    const { store } = context();
    const other = await store.projects.create(SCOPE.organizationId, { name: 'other' });
    const input = { name: 'x', expiresAt: null, createdBy: CREATED_BY };
    await expect(store.apiKeys.create(SCOPE, { ...input, projectId: null })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(store.apiKeys.create(WHOLE, { ...input, projectId: 'prj_none' })).rejects.toMatchObject({
      code: 'not_found',
    });
    const { record } = await store.apiKeys.create(WHOLE, { ...input, projectId: other.id });
    expect(await store.apiKeys.find(SCOPE, record.id)).toBeNull();
    expect(await store.apiKeys.remove(SCOPE, record.id)).toBe(false);
  });
});
