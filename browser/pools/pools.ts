import type { BrowserPoolCreate, BrowserPoolUpdate } from '../../contract/browser-pools.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import type { SessionRegistry } from '../session/registry.ts';
import type { DefinitionReader, PoolDefinition, StoredPool } from './definition.ts';
import { createBrowserPool, type BrowserPool, type PoolBrowsers } from './pool.ts';

/** How often pools check whether their profile has changed, in milliseconds. */
const PROFILE_CHECK_MS = 10_000;

/** Where pools are persisted. This service is the only writer. */
export interface PoolStore {
  all(): Promise<StoredPool[]>;
  /** Rejects with `already_exists` if the project has a pool of that name. */
  create(projectId: string, definition: PoolDefinition): Promise<StoredPool>;
  /** Rejects like `create`, and with `not_found` if there is no such pool. */
  update(projectId: string, id: string, definition: PoolDefinition): Promise<StoredPool>;
  remove(projectId: string, id: string): Promise<void>;
}

/** Filters of a pool list. */
interface PoolFilter {
  name?: string | undefined;
  /** A substring of the name, ignoring case, or the full id. */
  query?: string | undefined;
}

/** The browser pools of this service. */
export interface BrowserPools {
  /** Loads the stored pools, which fill up again. */
  load(): Promise<void>;
  create(projectId: string, request: BrowserPoolCreate): Promise<BrowserPool>;
  /** Finds a pool by id, else by name, in the order of the projects. Throws `not_found`. */
  find(projects: readonly string[], idOrName: string): BrowserPool;
  /** Newest first. */
  list(projects: readonly string[], filter: PoolFilter): BrowserPool[];
  update(pool: BrowserPool, request: BrowserPoolUpdate): Promise<BrowserPool>;
  /** Throws `operation_failed` while browsers are in use, unless `force` ends them. */
  remove(pool: BrowserPool, force: boolean): Promise<void>;
  /** Stops starting browsers. Their sessions are left to end with the service. */
  stop(): Promise<void>;
}

interface PoolsDeps {
  store: PoolStore;
  registry: Pick<SessionRegistry, 'max' | 'maxPooled'>;
  definitions: DefinitionReader;
  browsers: PoolBrowsers;
}

export function createBrowserPools({ store, registry, definitions, browsers }: PoolsDeps): BrowserPools {
  const pools = new Map<string, BrowserPool>();
  const open = (stored: StoredPool): BrowserPool => {
    const pool = createBrowserPool(stored, browsers);
    pools.set(stored.id, pool);
    return pool;
  };

  const assertCapacity = (size: number, except?: BrowserPool): void => {
    const others = [...pools.values()].filter((pool) => pool !== except);
    const left = registry.maxPooled - others.reduce((sum, pool) => sum + pool.stored().config.size, 0);
    if (size <= left) return;
    throw invalidField(
      'size',
      `pools may have ${String(Math.max(0, left))} more browsers (${String(registry.max - registry.maxPooled)} of ` +
        `${String(registry.max)} sessions are reserved for logins and health checks); raise BROWSER_MAX_SESSIONS`,
    );
  };

  const isStale = async (pool: BrowserPool) => {
    const stored = pool.stored();
    for (const session of pool.idle()) {
      if (!(await browsers.isFresh(stored, session))) return true;
    }
    return false;
  };
  const flushStale = async (): Promise<void> => {
    for (const pool of pools.values()) if (await isStale(pool)) await pool.flush();
  };
  const timer = setInterval(() => {
    // If the store is down, the next check retries; acquiring checks freshness anyway.
    flushStale().catch(() => undefined);
  }, PROFILE_CHECK_MS);
  timer.unref();

  return {
    load: async () => {
      for (const stored of await store.all()) open(stored);
    },
    create: async (projectId, request) => {
      const definition = await definitions.onCreate(projectId, request);
      assertCapacity(definition.config.size);
      return open(await store.create(projectId, definition));
    },
    find: (projects, idOrName) => {
      const visible = [...pools.values()].filter((pool) => projects.includes(pool.stored().projectId));
      const named = projects.flatMap((project) =>
        visible.filter((pool) => pool.stored().projectId === project && pool.stored().name === idOrName),
      );
      const found = visible.find((pool) => pool.stored().id === idOrName) ?? named[0];
      if (found === undefined) {
        throw new HoldfastError('not_found', 'Browser pool not found; check its id or name, and the project');
      }
      return found;
    },
    list: (projects, { name, query = '' }) =>
      // The map is in order of creation.
      [...pools.values()].toReversed().filter((pool) => {
        const stored = pool.stored();
        if (!projects.includes(stored.projectId)) return false;
        if (name !== undefined && name !== '' && stored.name !== name) return false;
        return query === '' || stored.id === query || (stored.name ?? '').toLowerCase().includes(query.toLowerCase());
      }),
    update: async (pool, request) => {
      const stored = pool.stored();
      const definition = await definitions.onUpdate(stored, request);
      assertCapacity(definition.config.size, pool);
      pool.reconfigure(await store.update(stored.projectId, stored.id, definition));
      if (request.discard_all_idle === true) await pool.flush();
      return pool;
    },
    remove: async (pool, force) => {
      const { id, projectId } = pool.stored();
      const { acquired } = pool.counts();
      if (acquired > 0 && !force) {
        const message = `${String(acquired)} browsers of the pool are in use; release them, or send \`force: true\``;
        throw new HoldfastError('operation_failed', message, { details: [{ code: 'in_use', message }] });
      }
      await store.remove(projectId, id);
      pools.delete(id);
      await pool.close();
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all([...pools.values()].map((pool) => pool.stop()));
    },
  };
}
