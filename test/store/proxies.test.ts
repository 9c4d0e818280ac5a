import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createPool, openDatabase } from '../../store/database.ts';
import type { ProjectScope } from '../../store/scope.ts';
import { SCOPE, useStore } from './databases.ts';

const input = (name: string | null, host = 'proxy.example') => ({
  name,
  protocol: 'http' as const,
  host,
  port: 3128,
  username: 'ann',
  password: 'p:w %ä密',
  bypassHosts: ['static.example', '*.cdn.example'],
});

describe('proxies', () => {
  const context = useStore();

  const newProject = async (): Promise<ProjectScope> => {
    const { id } = await context().store.projects.create(SCOPE.organizationId, {
      name: randomBytes(4).toString('hex'),
    });
    return { ...SCOPE, projectId: id };
  };

  it('keep their password write-only, and open it for connecting', async () => {
    const { store } = context();
    const scope = await newProject();
    const made = await store.proxies.create(scope, input('office'));
    expect(made).toMatchObject({ name: 'office', hasPassword: true, status: null, lastCheckedAt: null });
    expect(JSON.stringify(made)).not.toContain('密');
    expect(await store.proxies.find(scope, made.id)).toEqual(made);
    expect(await store.proxies.open(scope.projectId, { id: made.id })).toMatchObject({
      outcome: 'found',
      proxy: {
        password: 'p:w %ä密',
        host: 'proxy.example',
        port: 3128,
        bypassHosts: ['static.example', '*.cdn.example'],
      },
    });
    const open = await store.proxies.create(scope, { ...input(null), username: null, password: null });
    expect(open).toMatchObject({ name: null, hasPassword: false });
    expect(await store.proxies.open(scope.projectId, { id: open.id })).toMatchObject({ proxy: { password: null } });
  });

  it('are found by name only if it is unambiguous, and only in their project', async () => {
    const { store } = context();
    const [scope, other] = [await newProject(), await newProject()];
    const first = await store.proxies.create(scope, input('twice/ü'));
    expect(await store.proxies.match(scope.projectId, { name: 'twice/ü' })).toMatchObject({ proxy: { id: first.id } });
    const second = await store.proxies.create(scope, input('twice/ü'));
    expect(await store.proxies.match(scope.projectId, { name: 'twice/ü' })).toEqual({ outcome: 'ambiguous' });
    expect(await store.proxies.open(scope.projectId, { name: 'twice/ü' })).toEqual({ outcome: 'ambiguous' });
    expect(await store.proxies.match(other.projectId, { id: first.id })).toEqual({ outcome: 'none' });
    expect(await store.proxies.find(other, first.id)).toBeNull();
    expect(await store.proxies.rename(other, first.id, 'stolen')).toBeNull();
    expect(await store.proxies.remove(other, first.id)).toBe(false);
    expect(await store.proxies.remove(scope, second.id)).toBe(true);
    expect(await store.proxies.match(scope.projectId, { name: 'twice/ü' })).toMatchObject({ proxy: { id: first.id } });
  });

  it('are listed by exact name, by a part of the name or host, and by id', async () => {
    const { store } = context();
    const scope = await newProject();
    const rome = await store.proxies.create(scope, input('Rome', 'eu.example'));
    await store.proxies.create(scope, input('Romeo', 'us.example'));
    const names = async (filter: { name?: string; query?: string }) =>
      (await store.proxies.list(scope, { limit: 10, offset: 0, ...filter })).rows.map((row) => row.name).toSorted();
    expect(await names({})).toEqual(['Rome', 'Romeo']);
    expect(await names({ name: 'Rome' })).toEqual(['Rome']);
    expect(await names({ query: 'rOm' })).toEqual(['Rome', 'Romeo']);
    expect(await names({ query: 'US.' })).toEqual(['Romeo']);
    expect(await names({ query: rome.id })).toEqual(['Rome']);
    expect(await names({ query: rome.id.slice(0, -1) })).toEqual([]);
    expect(await names({ query: '%' })).toEqual([]);
    await store.proxies.rename(scope, rome.id, 'Ümit');
    expect(await names({ query: 'üm' })).toEqual(['Ümit']);
    expect(await store.proxies.list(scope, { limit: 1, offset: 0 })).toMatchObject({ hasMore: true });
  });

  it('keep a row without a password after deletion', async () => {
    const { store, database } = context();
    const scope = await newProject();
    const { id } = await store.proxies.create(scope, input('gone'));
    const both = await Promise.all([store.proxies.remove(scope, id), store.proxies.remove(scope, id)]);
    expect(both.filter(Boolean)).toHaveLength(1);
    expect(await store.proxies.find(scope, id)).toBeNull();
    expect(await store.proxies.recordCheck(scope, id, 'available')).toBeNull();
    expect((await store.proxies.list(scope, { limit: 10, offset: 0 })).rows).toEqual([]);
    const db = openDatabase(createPool(database.connection, 1));
    const row = await db.selectFrom('proxies').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
    expect(row.sealed_password).toBeNull();
    expect(row.deleted_at).not.toBeNull();
    await db.destroy();
  });

  it('record their last check', async () => {
    const { store } = context();
    const scope = await newProject();
    const { id } = await store.proxies.create(scope, input('checked'));
    const checked = await store.proxies.recordCheck(scope, id, 'unavailable');
    expect(checked?.status).toBe('unavailable');
    expect(checked?.lastCheckedAt).toBeInstanceOf(Date);
    expect(await store.proxies.recordCheck(scope, id, 'available')).toMatchObject({ status: 'available' });
  });

  it('are resealed when the key of their organization is rotated', async () => {
    const { store, open, database } = context();
    const scope = await newProject();
    const { id } = await store.proxies.create(scope, input('rotated'));
    const db = openDatabase(createPool(database.connection, 1));
    const sealedBy = async (): Promise<string | undefined> =>
      (
        await sql<{ key: string }>`select encode(substring(sealed_password from 2 for 16), 'hex') as key
          from proxies where id = ${id}`.execute(db)
      ).rows[0]?.key;
    const before = await sealedBy();
    await store.rotateOrganizationKey(SCOPE.organizationId);
    expect(await sealedBy()).not.toBe(before);
    const later = open({ clock: () => new Date(Date.now() + 61_000) });
    expect(await later.rotateOrganizationKey(SCOPE.organizationId)).toMatchObject({ finished: true, broken: [] });
    expect(await open().proxies.open(scope.projectId, { id })).toMatchObject({ proxy: { password: 'p:w %ä密' } });
    await db.destroy();
  });
});
