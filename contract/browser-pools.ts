import { z } from 'zod';
import { Browser, browserCreateMembers, REGION, SessionName, Tags } from './browsers.ts';
import { HttpUrl } from './addresses.ts';
import { PAGE } from './limits.ts';
import { ResourceName } from './resource-name.ts';
import { TelemetryConfig, TelemetryRequest } from './telemetry.ts';

/** Idle time-out of a pool's sessions that names none, in seconds. */
export const POOL_TIMEOUT_DEFAULT_S = 600;
/** Part of a pool that is filled in a minute ahead of need, in per cent, where its configuration names none. */
export const FILL_RATE_DEFAULT = 25;
/** Longest that one call waits for a browser, in seconds: then it answers that there is none yet, and is made again. */
export const ACQUIRE_WAIT_MAX_S = 300;
/** Most browsers of one pool; how many really fit is the browser service's to say. */
const MAX_SIZE = 1000;

/** Which profile a pool's browsers open, by either. They never save to it: `save_changes` is taken and means nothing. */
const PoolProfileRef = z.object({ id: z.string().max(255).optional(), name: z.string().max(255).optional() });

const { headless, stealth, kiosk_mode, viewport, chrome_policy, extensions, timeout_seconds } = browserCreateMembers;
const { proxy, proxy_id, gpu, network, region, start_url, memory } = browserCreateMembers;
const fill_rate_per_minute = z.number().min(0).max(6000).optional();
const size = z.int().min(1).max(MAX_SIZE);
const refresh_on_profile_update = z.boolean().optional();
const ofBrowsers = { headless, stealth, kiosk_mode, viewport, chrome_policy, extensions, timeout_seconds, memory };
const wayOut = { proxy, proxy_id };
/** Known of single sessions; what is not to be had here is refused by name. */
const refusable = { gpu, network, region };

/** Body of `POST /browser_pools`. Members that it does not know are ignored: newer clients send more. */
export const BrowserPoolCreate = z.object({
  ...ofBrowsers,
  ...wayOut,
  ...refusable,
  size,
  name: ResourceName.optional(),
  fill_rate_per_minute,
  profile: PoolProfileRef.optional(),
  refresh_on_profile_update,
  start_url,
  telemetry: TelemetryRequest.nullable().optional(),
});
export type BrowserPoolCreate = z.infer<typeof BrowserPoolCreate>;

/**
 * Body of `PATCH /browser_pools/{id or name}`. What is left out stays; an empty `start_url`, `proxy_id`, `extensions`,
 * `chrome_policy` or profile id takes away what is set. An empty `name` changes nothing.
 */
export const BrowserPoolUpdate = z.object({
  ...ofBrowsers,
  ...wayOut,
  ...refusable,
  size: size.optional(),
  name: z.union([z.literal(''), ResourceName]).optional(),
  fill_rate_per_minute,
  profile: PoolProfileRef.optional(),
  refresh_on_profile_update,
  start_url: z.union([z.literal(''), HttpUrl]).optional(),
  telemetry: TelemetryRequest.nullable().optional(),
  discard_all_idle: z.boolean().optional(),
});
export type BrowserPoolUpdate = z.infer<typeof BrowserPoolUpdate>;

/** What all browsers of a pool are started with, as it was sent. */
export const BrowserPoolConfig = BrowserPoolCreate.omit({ gpu: true, network: true, region: true, telemetry: true })
  .extend({ telemetry: TelemetryConfig.nullable().optional() })
  .meta({ id: 'BrowserPoolConfig' });
export type BrowserPoolConfig = z.infer<typeof BrowserPoolConfig>;

/** A pool as it is answered; `profile_id` and `extension_ids` are what its configuration means. */
export const BrowserPool = z.object({
  id: z.string(),
  name: z.string().optional(),
  created_at: z.iso.datetime(),
  region: z.literal(REGION),
  acquired_count: z.int(),
  available_count: z.int(),
  browser_pool_config: BrowserPoolConfig,
  profile_id: z.string().optional(),
  extension_ids: z.array(z.string()),
});
export type BrowserPool = z.infer<typeof BrowserPool>;

/** Query of `GET /browser_pools`. */
export const BrowserPoolListQuery = z.object({
  name: z.string().max(255).optional(),
  query: z.string().max(255).optional(),
  region: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(PAGE.max).default(PAGE.default),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Body of `DELETE /browser_pools/{id or name}`. `force`: browsers that are in use end, too. */
export const BrowserPoolDelete = z.object({ force: z.boolean().optional() });

/** Body of `POST /browser_pools/{id or name}/acquire`. All but the time is for this lease alone. */
export const BrowserPoolAcquire = z.object({
  acquire_timeout_seconds: z.number().min(0).max(86_400).optional(),
  name: SessionName.optional(),
  start_url: HttpUrl.optional(),
  tags: Tags.optional(),
  telemetry: TelemetryRequest.nullable().optional(),
});
export type BrowserPoolAcquire = z.infer<typeof BrowserPoolAcquire>;

/** Body of `POST /browser_pools/{id or name}/release`. */
export const BrowserPoolRelease = z.object({ session_id: z.string().min(1).max(255), reuse: z.boolean().optional() });

/** What `acquire` answers; nothing, with 204, when no browser came free in time. */
export const AcquiredBrowser = Browser;
