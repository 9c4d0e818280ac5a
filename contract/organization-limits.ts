import { z } from 'zod';
import { PLAN_IDS } from './limits.ts';

/** The largest that a limit can be, and what is answered where a number must be and nothing is bounded. */
export const MAX_LIMIT = 1_000_000;
/** 0 and null take a limit away. */
const Limit = z.int().min(0).max(MAX_LIMIT).nullable();
const MaxAuthConnections = Limit.describe('Most auth connections of the organization; null for no bound');
const MinInterval = z.int().describe('The smallest that the plan allows');

/** What an organization has, and may have, of what is counted. */
export const OrganizationLimits = z.strictObject({
  auth_connections_used: z.int().describe('Auth connections of the organization'),
  max_auth_connections: MaxAuthConnections,
  min_health_check_interval_seconds: MinInterval,
  default_project_max_concurrent_sessions: Limit,
  /** What the browser service has room for; absent while it does not say. */
  max_concurrent_sessions: z.int().optional(),
  concurrent_sessions_used: z
    .int()
    .nullable()
    .describe('Browser sessions of the organization, those that wait in pools included; null while nobody says'),
  concurrent_sessions_available: z
    .int()
    .nullable()
    .describe('Sessions that can be started now; null while nobody says'),
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
/** The plan is the installation's: nobody bills it, and nothing is tried out. */
const Plan = z.strictObject({
  id: PlanIdentifier,
  effective_id: PlanIdentifier,
  is_trialing: z.literal(false),
  status: z.null(),
  trial_ends_at: z.null(),
});

const Feature = z.strictObject({ enabled: z.boolean() });
/** What clients ask for before they offer it to a person. */
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

/** What an organization may do, by its plan and by what its owners have turned off. */
export const Entitlements = z.strictObject({
  plan: Plan,
  features: Features,
  limits: z.strictObject({
    default_max_concurrent_invocations_per_app: z.int(),
    max_concurrent_browsers: z.int().describe('What the browser service has room for; 0 while it does not say'),
    max_concurrent_invocations: z.int(),
    max_vaults: z.literal(0),
  }),
  min_health_check_interval_seconds: MinInterval,
  max_auth_connections: MaxAuthConnections,
  projects: z.boolean().describe('Whether there are projects beside the default one'),
  audit_log_exports: z.boolean().describe('Whether the audit log can be delivered to buckets'),
});
export type Entitlements = z.infer<typeof Entitlements>;

/** Body of `PATCH /org/entitlements`. */
export const EntitlementsUpdate = z.strictObject({ projects: z.boolean().optional() });

/** How much of what is counted may run in a project at a time. */
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

/** How many sessions the projects of a caller have, and how many more there is room for: what the browser service tells the API. */
export const SessionUsage = z.object({ used: z.int(), available: z.int() });
export type SessionUsage = z.infer<typeof SessionUsage>;
