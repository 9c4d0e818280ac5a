import { expect, it } from 'vitest';
import { SCOPE, useStore } from './databases.ts';

const context = useStore();
const CONFIG = { size: 2, stealth: true, profile: { name: 'a' }, chrome_policy: { HomepageLocation: 'x' } };
const POOL = { name: 'one', config: CONFIG, profileId: 'prof_a', extensionIds: ['ext_a', 'ext_b'] };

it('stores pools under names that are unique per project', async () => {
  const { browserPools, projects } = context().store;
  const { projectId } = SCOPE;
  await projects.create(SCOPE.organizationId, { id: 'prj_other', name: 'other' });
  const pool = await browserPools.create(projectId, POOL);
  expect(pool).toMatchObject({ ...POOL, projectId });
  await expect(browserPools.create(projectId, POOL)).rejects.toMatchObject({ code: 'already_exists' });
  const other = await browserPools.create('prj_other', POOL);
  const unnamed = [await browserPools.create(projectId, { ...POOL, name: null })];
  unnamed.push(await browserPools.create(projectId, { ...POOL, name: null }));
  await expect(browserPools.create('prj_none', POOL)).rejects.toMatchObject({ code: 'not_found' });
  const all = await context().open().browserPools.all();
  expect(all).toHaveLength(4);
  expect(all).toEqual(expect.arrayContaining([pool, other, ...unnamed]));

  const changed = { name: 'two', config: { size: 3 }, profileId: null, extensionIds: [] };
  expect(await browserPools.update(projectId, pool.id, changed)).toEqual({ ...pool, ...changed });
  const [first] = unnamed;
  await expect(browserPools.update(projectId, first?.id ?? '', changed)).rejects.toMatchObject({
    code: 'already_exists',
  });
  await expect(browserPools.update('prj_other', pool.id, changed)).rejects.toMatchObject({ code: 'not_found' });
  await browserPools.remove('prj_other', pool.id);
  expect(await browserPools.all()).toHaveLength(4);
  await browserPools.remove(projectId, pool.id);
  // Those that were made in the same millisecond come in no order.
  const left = await browserPools.all();
  expect(left).toHaveLength(3);
  expect(left).toEqual(expect.arrayContaining([other, ...unnamed]));
});
