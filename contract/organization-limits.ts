import { z } from 'zod';
import { PLAN_IDS } from './limits.ts';

/** The largest limit, also reported where a number is required and there is no limit. */
export const MAX_LIMIT = 1_000_000;
/** 0 and null remove a limit. */
const Limit = z.int().min(0).max(MAX_LIMIT).nullable();
const MaxAuthConnections = Limit.describe('Most auth connections of the organization; null for no limit');
const MinInterval = z.int().describe('Smallest interval that the plan allows');

/** Limits and usage of an organization. */
export const OrganizationLimits = z.strictObject({
  auth_connections_used: z.int().describe('Auth connections of the organization'),
  max_auth_connections: MaxAuthConnections,
  min_health_check_interval_seconds: MinInterval,
  default_project_max_concurrent_sessions: Limit,
  /** Capacity of the browser service; absent while unknown. */
  max_concurrent_sessions: z.int().optional(),
  concurrent_sessions_used: z
    .int()
    .nullable()
    .describe('Browser sessions of the organization, including idle ones in pools; null while unknown'),
  concurrent_sessions_available: z.int().nullable().describe('Sessions that can be started now; null while unknown'),
  /** There are no vaults here. */
  max_vaults: z.literal(0),
  vaults_used: z.literal(0),
});
export type OrganizationLimits = z.infer<typeof OrganizationLimits>;

/** Body of `PATCH /org/limits`. */
export const OrganizationLimitsUpdate = z.strictObject({
  default_project_max_concurrent_sessions: Limit.optional(),
  max_auth_connections: MaxAuthConnections.optional(),
});

const PlanIdentifier = z.enum(Object.values(PLAN_IDS));
/** The plan of the installation: there is no billing and no trial. */
const Plan = z.strictObject({
  id: PlanIdentifier,
  effective_id: PlanIdentifier,
  is_trialing: z.literal(false),
  status: z.null(),
  trial_ends_at: z.null(),
});

const Feature = z.strictObject({ enabled: z.boolean() });
/** Features that clients check before they offer them. */
const Features = z.strictObject({
  browser_extensions: Feature.extend({ max_stored_per_org: z.null() }),
  browser_pools: Feature,
  browser_replays: Feature.extend({ retention_days: z.int() }),
  credential_providers: Feature,
  credentials: Feature,
  custom_proxies: Feature,
  file_io: Feature,
  gpu: Feature,
  managed_auth: Feature.extend({
    health_check_interval_default_seconds: z.int(),
    health_check_interval_max_seconds: z.int(),
    health_check_interval_min_seconds: z.int(),
    max_connections: MaxAuthConnections,
  }),
  managed_proxies: Feature,
  profiles: Feature,
  proxy_bypass_hosts: Feature,
  search: Feature,
  vaults: Feature,
});

/** What an organization may do, by its plan and its owners' choices. */
export const Entitlements = z.strictObject({
  plan: Plan,
  features: Features,
  limits: z.strictObject({
    default_max_concurrent_invocations_per_app: z.int(),
    max_concurrent_browsers: z.int().describe('Capacity of the browser service; 0 while unknown'),
    max_concurrent_invocations: z.int(),
    max_vaults: z.literal(0),
  }),
  min_health_check_interval_seconds: MinInterval,
  max_auth_connections: MaxAuthConnections,
  projects: z.boolean().describe('Whether projects besides the default one are available'),
  audit_log_exports: z.boolean().describe('Whether the audit log can be delivered to buckets'),
});
export type Entitlements = z.infer<typeof Entitlements>;

/** Body of `PATCH /org/entitlements`. */
export const EntitlementsUpdate = z.strictObject({ projects: z.boolean().optional() });

/** Concurrency limits of a project. */
export const ProjectLimits = z.strictObject({
  max_concurrent_sessions: Limit,
  max_concurrent_invocations: Limit,
  max_pooled_sessions: z.null(),
});
export type ProjectLimits = z.infer<typeof ProjectLimits>;

/** Body of `PATCH /org/projects/{id or name}/limits`. */
export const ProjectLimitsUpdate = z.strictObject({
  max_concurrent_sessions: Limit.optional(),
  max_concurrent_invocations: Limit.optional(),
  max_pooled_sessions: Limit.optional(),
});

/** Sessions of a caller's projects and remaining capacity, as the browser service reports them to the API. */
export const SessionUsage = z.object({ used: z.int(), available: z.int() });
export type SessionUsage = z.infer<typeof SessionUsage>;
