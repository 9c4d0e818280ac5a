import type { StoredPool } from '../../browser/pools/definition.ts';
import type { PoolStore } from '../../browser/pools/pools.ts';
import { HoldfastError } from '../../contract/errors.ts';

/** Pools in memory. Like the store, it keeps names unique in a project. */
export function memoryPools(): PoolStore {
  const pools = new Map<string, StoredPool>();
  const assertFree = (projectId: string, name: string | null, id?: string): void => {
    const taken = [...pools.values()].some(
      (pool) => name !== null && pool.projectId === projectId && pool.name === name && pool.id !== id,
    );
    if (taken) throw new HoldfastError('already_exists', 'name: taken');
  };
  return {
    all: async () => [...pools.values()],
    create: async (projectId, definition) => {
      assertFree(projectId, definition.name);
      const pool = { ...definition, id: `pool_${String(pools.size)}`, projectId, createdAt: new Date() };
      pools.set(pool.id, pool);
      return pool;
    },
    update: async (projectId, id, definition) => {
      const former = pools.get(id);
      if (former === undefined) throw new HoldfastError('not_found', 'gone');
      assertFree(projectId, definition.name, id);
      const pool = { ...former, ...definition };
      pools.set(id, pool);
      return pool;
    },
    remove: async (_projectId, id) => void pools.delete(id),
  };
}
