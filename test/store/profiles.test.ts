import { describe, expect, it } from 'vitest';
import { SCOPE, useStore } from './databases.ts';

describe('profiles', () => {
  const context = useStore();

  it('are created once per name by concurrent callers', async () => {
    const { store } = context();
    const made = await Promise.all(Array.from({ length: 20 }, () => store.profiles.findOrCreate(SCOPE, 'ann / ä')));
    expect(new Set(made.map((profile) => profile.id)).size).toBe(1);
    await expect(store.profiles.create(SCOPE, { name: 'ann / ä' })).rejects.toMatchObject({ code: 'already_exists' });
    const nameless = await store.profiles.create(SCOPE, {});
    expect((await store.profiles.create(SCOPE, {})).id).not.toBe(nameless.id);
    expect(await store.profiles.find(SCOPE, nameless.id)).toEqual(nameless);
  });

  it('merge all concurrent saves', async () => {
    const { store } = context();
    const { id } = await store.profiles.findOrCreate(SCOPE, 'saves');
    expect(await store.profiles.load(SCOPE.projectId, { name: 'saves' })).toMatchObject({ state: null, revision: 0 });
    const merge = (index: number) => (stored: unknown) => [...(Array.isArray(stored) ? stored.map(Number) : []), index];
    await Promise.all(Array.from({ length: 20 }, (_, index) => store.profiles.save(SCOPE.projectId, id, merge(index))));
    const loaded = await store.profiles.load(SCOPE.projectId, { id });
    expect(loaded?.revision).toBe(20);
    expect(loaded?.lastUsedAt).toBeInstanceOf(Date);
    expect(new Set(Array.isArray(loaded?.state) ? loaded.state : [])).toEqual(
      new Set(Array.from({ length: 20 }, (_, index) => index)),
    );
  });

  it('keep the stored state if a merge throws', async () => {
    const { store } = context();
    const { id } = await store.profiles.findOrCreate(SCOPE, 'throws');
    await store.profiles.save(SCOPE.projectId, id, () => ({ kept: true }));
    const broken = store.profiles.save(SCOPE.projectId, id, () => {
      throw new Error('no');
    });
    await expect(broken).rejects.toThrow('no');
    expect((await store.profiles.load(SCOPE.projectId, { id }))?.state).toEqual({ kept: true });
  });

  it('store a state of several megabytes', async () => {
    const { store } = context();
    const { id } = await store.profiles.findOrCreate(SCOPE, 'large');
    const state = { text: 'ä'.repeat(3_000_000) };
    await store.profiles.save(SCOPE.projectId, id, () => state);
    expect((await store.profiles.load(SCOPE.projectId, { id }))?.state).toEqual(state);
  });

  it('are renamed, listed and removed only within their project', async () => {
    const { store } = context();
    const project = await store.projects.create(SCOPE.organizationId, { name: 'profiles' });
    const scope = { ...SCOPE, projectId: project.id };
    const { id } = await store.profiles.findOrCreate(scope, 'first');
    await store.profiles.findOrCreate(scope, 'second');
    expect(await store.profiles.rename(SCOPE, id, 'stolen')).toBeNull();
    await expect(store.profiles.rename(scope, id, 'second')).rejects.toMatchObject({ code: 'already_exists' });
    expect(await store.profiles.rename(scope, id, 'Third')).toMatchObject({ id, name: 'Third' });
    const { rows } = await store.profiles.list(scope, { limit: 10, offset: 0, query: 'thi' });
    expect(rows.map((row) => row.id)).toEqual([id]);
    expect(await store.profiles.load(SCOPE.projectId, { id })).toBeNull();
    await expect(store.profiles.save(SCOPE.projectId, id, () => 1)).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.profiles.remove(SCOPE, id)).toBe(false);
    expect(await store.profiles.remove(scope, 'Third')).toBe(true);
    await expect(store.profiles.save(scope.projectId, id, () => 1)).rejects.toMatchObject({ code: 'not_found' });
  });
});
