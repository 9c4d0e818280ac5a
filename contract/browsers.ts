import { z } from 'zod';
import { HttpUrl } from './addresses.ts';
import { BrowserProxy, BrowserProxyConfig } from './proxies.ts';
import { TelemetryConfig, TelemetryRequest } from './telemetry.ts';

/** Bounds and default of a session's inactivity timeout, in seconds. */
export const SESSION_TIMEOUT = { min: 10, max: 259_200, default: 60 } as const;
/** The only region, as sessions and pools report it. */
export const REGION = 'us-east';
/** Region names that clients may send: the reported one, and the one of deployments. */
const BrowserRegion = z.enum([REGION, 'aws.us-east-1a']);

/** False for a list filtered by a region that does not exist here. */
export function isOurRegion(region: string | undefined): boolean {
  return region === undefined || BrowserRegion.safeParse(region).success;
}

/** BrowserMemory: sizes that clients choose from. Stored and echoed; nothing is reserved or limited. */
export const BrowserMemory = z.enum(['1GiB', '2GiB', '4GiB', '8GiB', '16GiB']);
export type BrowserMemory = z.infer<typeof BrowserMemory>;

/** Memory of a session that names none. */
export function defaultMemory(headless: boolean): BrowserMemory {
  return headless ? '1GiB' : '8GiB';
}
/** Default viewport of a session, in CSS pixels. */
export const DEFAULT_VIEWPORT = { width: 1920, height: 1080 } as const;

/** Header of `POST /browsers`: `true` if a person's secrets are typed. Confirmed by `managed_auth` in the response. */
export const MANAGED_AUTH_HEADER = 'x-holdfast-managed-auth';

/** Header by which the API lists the projects whose sessions a request may see, comma-separated. Default: its own only. */
export const PROJECTS_HEADER = 'x-holdfast-projects';
/** Header by which the API names the calling program's invocation: the browsers it opens end with it. */
export const INVOCATION_HEADER = 'x-holdfast-invocation';

/** BrowserViewport. The refresh rate is stored and echoed; without a screen it has no effect. */
export const BrowserViewport = z.strictObject({
  width: z.int().min(1).max(16_384),
  height: z.int().min(1).max(16_384),
  refresh_rate: z.int().min(1).max(1000).optional(),
});
export type BrowserViewport = z.infer<typeof BrowserViewport>;

/** The profile a session opens, and whether it saves to it at its end. Exactly one of `id` and `name`. */
const BrowserProfileRef = z
  .strictObject({
    id: z.string().min(1).max(255).optional(),
    name: z.string().min(1).max(255).optional(),
    save_changes: z.boolean().optional(),
  })
  .refine((ref) => (ref.id === undefined) !== (ref.name === undefined), { message: 'give either `id` or `name`' });

/** Tags of a session: up to 50 pairs of strings. */
export const Tags = z
  .record(z.string().min(1).max(255), z.string().max(1024))
  .refine((tags) => Object.keys(tags).length <= 50, { message: 'at most 50 tags' });

/** Name of a session. */
export const SessionName = z.string().min(1).max(255);

/** Members of {@link BrowserCreate}. */
export const browserCreateMembers = {
  headless: z.boolean().optional(),
  stealth: z.boolean().optional(),
  timeout_seconds: z.int().min(SESSION_TIMEOUT.min).max(SESSION_TIMEOUT.max).optional(),
  profile: BrowserProfileRef.optional(),
  viewport: BrowserViewport.optional(),
  start_url: HttpUrl.optional(),
  kiosk_mode: z.boolean().optional(),
  name: SessionName.optional(),
  tags: Tags.optional(),
  telemetry: TelemetryRequest.nullable().optional(),
  chrome_policy: z.record(z.string(), z.unknown()).optional(),
  region: BrowserRegion.optional(),
  memory: BrowserMemory.optional(),
  gpu: z.boolean().optional(),
  proxy: BrowserProxyConfig.nullable().optional(),
  proxy_id: z.string().nullable().optional(),
  network: z.record(z.string(), z.unknown()).nullable().optional(),
  extensions: z
    .array(z.strictObject({ id: z.string().optional(), name: z.string().max(255).optional() }))
    .max(20)
    .optional(),
  invocation_id: z.string().max(255).optional(),
};

/** Body of `POST /browsers`. Unknown members are ignored and listed in the session's log (`service`). */
export const BrowserCreate = z.looseObject(browserCreateMembers);
export type BrowserCreate = z.infer<z.ZodObject<typeof browserCreateMembers>>;

const { profile, telemetry, timeout_seconds, proxy, proxy_id } = browserCreateMembers;

/** Members of a body of `POST /browsers` that are unknown here. */
export function unknownMembers(body: BrowserCreate): string[] {
  return Object.keys(body).filter((member) => !Object.hasOwn(browserCreateMembers, member));
}

/**
 * Body of `PATCH /browsers/{id}`. Absent members are kept. `name: ""` or null clears the name; `tags` replaces all tags.
 * `profile` attaches one to a session without; naming the current one only changes `save_changes`. `proxy_id: ""` or null
 * removes the proxy. `start_url` is opened after everything else is applied, without waiting for it.
 */
export const BrowserUpdate = z.strictObject({
  name: z
    .union([z.literal(''), SessionName])
    .nullable()
    .optional(),
  tags: Tags.nullable().optional(),
  start_url: z.union([z.literal(''), HttpUrl]).optional(),
  ...{ profile, telemetry, timeout_seconds, proxy, proxy_id },
  viewport: BrowserViewport.extend({ force: z.boolean().optional() }).optional(),
  disable_default_proxy: z.boolean().optional(),
});
export type BrowserUpdate = z.infer<typeof BrowserUpdate>;

/** `true` or `false` in a query. */
export const QueryFlag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Query of `GET /browsers`. Tags are sent as `tags[key]=value`, one each; a session must match all of them. */
export const BrowserListQuery = z.looseObject({
  status: z.enum(['active', 'deleted', 'all']).optional(),
  include_deleted: QueryFlag.optional(),
  query: z.string().max(255).optional(),
  region: z.string().max(64).optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  offset: z.coerce.number().int().min(0).default(0),
});

/** Query of `GET /browsers/{id}`. */
export const BrowserRetrieveQuery = z.object({ include_deleted: QueryFlag.optional() });

/** Profile metadata of a session. */
const BrowserProfile = z.object({
  id: z.string(),
  name: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().optional(),
});

/** The pool that a session was acquired from. */
export const BrowserPoolRef = z.object({ id: z.string(), name: z.string().optional() });
export type BrowserPoolRef = z.infer<typeof BrowserPoolRef>;

/** A browser session of the interface. Its URLs carry a token that is valid for this session only. */
export const Browser = z.object({
  session_id: z.string(),
  created_at: z.iso.datetime(),
  deleted_at: z.iso.datetime().optional(),
  cdp_ws_url: z.string(),
  webdriver_ws_url: z.string(),
  browser_live_view_url: z.string().optional(),
  /** Paths below it accept the token in `cdp_ws_url`, as `jwt` in the query, instead of a key. */
  base_url: z.string(),
  region: z.literal(REGION),
  stealth: z.boolean(),
  headless: z.boolean(),
  gpu: z.boolean(),
  kiosk_mode: z.boolean(),
  memory: BrowserMemory,
  timeout_seconds: z.int(),
  name: z.string().optional(),
  start_url: z.string().optional(),
  chrome_policy: z.record(z.string(), z.unknown()).optional(),
  tags: z.record(z.string(), z.string()).optional(),
  pool: BrowserPoolRef.optional(),
  profile: BrowserProfile.optional(),
  profile_save_changes: z.boolean().optional(),
  proxy: BrowserProxy.optional(),
  proxy_id: z.string().optional(),
  telemetry: TelemetryConfig.nullable(),
  /** True if telemetry never captures typed text, whatever its categories. */
  managed_auth: z.literal(true).optional(),
  usage: z.object({ uptime_ms: z.int() }),
  viewport: BrowserViewport,
});
export type Browser = z.infer<typeof Browser>;
