import { z } from 'zod';
import { Browser } from './browsers.ts';
import {
  BrowserPool,
  BrowserPoolAcquire,
  BrowserPoolCreate,
  BrowserPoolDelete,
  BrowserPoolListQuery,
  BrowserPoolRelease,
  BrowserPoolUpdate,
} from './browser-pools.ts';
import { NO_ANSWER, NOTHING, type BrowserRoute } from './browser-routes.ts';

const POOL = '/browser_pools/:id_or_name';
const OF_POOLS = { query: NOTHING, body: NOTHING, answer: BrowserPool, status: 200, opens: 'key' } as const;
const OF_POOL = { ...OF_POOLS, params: z.object({ id_or_name: z.string().min(1).max(255) }) } as const;

/** Every operation on browser pools by its operation id. A path names the pool by its id or its name. */
export const BROWSER_POOL_ROUTES = {
  createBrowserPool: {
    ...OF_POOLS,
    method: 'POST',
    url: '/browser_pools',
    summary: 'Create a browser pool',
    params: NOTHING,
    body: BrowserPoolCreate,
    refusals: [400, 404, 409, 422],
  },
  listBrowserPools: {
    ...OF_POOLS,
    method: 'GET',
    url: '/browser_pools',
    summary: 'List browser pools, newest first',
    params: NOTHING,
    query: BrowserPoolListQuery,
    answer: z.array(BrowserPool),
    refusals: [400],
  },
  retrieveBrowserPool: { ...OF_POOL, method: 'GET', url: POOL, summary: 'Read a browser pool', refusals: [404] },
  updateBrowserPool: {
    ...OF_POOL,
    method: 'PATCH',
    url: POOL,
    summary: 'Change the configuration of a pool’s browsers',
    body: BrowserPoolUpdate.nullish(),
    refusals: [400, 404, 409, 422],
  },
  deleteBrowserPool: {
    ...OF_POOL,
    method: 'DELETE',
    url: POOL,
    summary: 'Delete a pool and its browsers',
    body: BrowserPoolDelete.nullish(),
    status: 204,
    answer: NO_ANSWER,
    refusals: [400, 404, 422],
  },
  acquireBrowser: {
    ...OF_POOL,
    method: 'POST',
    url: `${POOL}/acquire`,
    summary: 'Acquire a browser; 204 if none became available in time',
    body: BrowserPoolAcquire.nullish(),
    answer: Browser,
    emptyStatus: 204,
    refusals: [400, 404, 409, 422, 529],
  },
  releaseBrowser: {
    ...OF_POOL,
    method: 'POST',
    url: `${POOL}/release`,
    summary: 'Release a browser',
    body: BrowserPoolRelease,
    status: 204,
    answer: NO_ANSWER,
    refusals: [400, 404],
  },
  flushBrowserPool: {
    ...OF_POOL,
    method: 'POST',
    url: `${POOL}/flush`,
    summary: 'Replace the idle browsers',
    status: 204,
    answer: NO_ANSWER,
    refusals: [404],
  },
} as const satisfies Record<string, BrowserRoute>;
