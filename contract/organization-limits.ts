import { z } from 'zod';
import { PLANS } from './limits.ts';

/** 0 and null take a limit away. */
const Limit = z.int().min(0).max(1_000_000).nullable();
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
});
export type OrganizationLimits = z.infer<typeof OrganizationLimits>;

/** Body of `PATCH /org/limits`. */
export const OrganizationLimitsUpdate = z.strictObject({
  default_project_max_concurrent_sessions: Limit.optional(),
  max_auth_connections: MaxAuthConnections.optional(),
});

/** What an organization may do, by its plan and by what its owners have turned off. */
export const Entitlements = z.strictObject({
  plan: z.enum(PLANS),
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
