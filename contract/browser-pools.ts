import { z } from 'zod';
import { browserCreateMembers, REGION, SessionName, Tags } from './browsers.ts';
import { HttpUrl } from './addresses.ts';
import { PAGE } from './limits.ts';
import { ResourceName } from './resource-name.ts';
import { TelemetryConfig, TelemetryRequest } from './telemetry.ts';

/** Default idle timeout of a pool's sessions, in seconds. */
export const POOL_TIMEOUT_DEFAULT_S = 600;
/** Default share of a pool that is filled per minute, in percent. */
export const FILL_RATE_DEFAULT = 25;
/** Longest that one call waits for a browser, in seconds; then it returns without one and is repeated. */
export const ACQUIRE_WAIT_MAX_S = 300;
/** Most browsers of one pool; the browser service decides how many really fit. */
const MAX_SIZE = 1000;

/** The profile of a pool's browsers, by id or name. They never save to it: `save_changes` is accepted and ignored. */
const PoolProfileRef = z.object({ id: z.string().max(255).optional(), name: z.string().max(255).optional() });

const { headless, stealth, kiosk_mode, viewport, chrome_policy, extensions, timeout_seconds } = browserCreateMembers;
const { proxy, proxy_id, gpu, network, region, start_url, memory } = browserCreateMembers;
const size = z.int().min(1).max(MAX_SIZE);
/** Members of create and update. `gpu`, `network` and `region` are rejected by name where they are unsupported. */
const poolMembers = {
  ...{ headless, stealth, kiosk_mode, viewport, chrome_policy, extensions, timeout_seconds, memory },
  ...{ proxy, proxy_id, gpu, network, region },
  fill_rate_per_minute: z.number().min(0).max(6000).optional(),
  profile: PoolProfileRef.optional(),
  refresh_on_profile_update: z.boolean().optional(),
  telemetry: TelemetryRequest.nullable().optional(),
};

/** Body of `POST /browser_pools`. Unknown members are ignored: newer clients send more. */
export const BrowserPoolCreate = z.object({ ...poolMembers, size, name: ResourceName.optional(), start_url });
export type BrowserPoolCreate = z.infer<typeof BrowserPoolCreate>;

/** Body of `PATCH /browser_pools/{id or name}`. Empty members, other than `name`, clear the setting. */
export const BrowserPoolUpdate = z.object({
  ...poolMembers,
  size: size.optional(),
  name: z.union([z.literal(''), ResourceName]).optional(),
  start_url: z.union([z.literal(''), HttpUrl]).optional(),
  discard_all_idle: z.boolean().optional(),
});
export type BrowserPoolUpdate = z.infer<typeof BrowserPoolUpdate>;

/** The configuration of a pool's browsers, as sent. */
export const BrowserPoolConfig = BrowserPoolCreate.omit({ gpu: true, network: true, region: true, telemetry: true })
  .extend({ telemetry: TelemetryConfig.nullable().optional() })
  .meta({ id: 'BrowserPoolConfig' });
export type BrowserPoolConfig = z.infer<typeof BrowserPoolConfig>;

/** A pool; `profile_id` and `extension_ids` are resolved from its configuration. */
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

/** Body of `DELETE /browser_pools/{id or name}`. `force` also ends browsers that are in use. */
export const BrowserPoolDelete = z.object({ force: z.boolean().optional() });

/** Body of `POST /browser_pools/{id or name}/acquire`. Everything but the timeout applies to this lease only. */
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
