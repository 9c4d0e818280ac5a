/** Plans of an organization; each limits how often health checks run (interface.md, "Limits"). */
export const PLANS = ['enterprise', 'startup', 'hobbyist', 'free'] as const;
export type Plan = (typeof PLANS)[number];

/** Plan names as used by clients. */
export const PLAN_IDS = {
  enterprise: 'ENTERPRISE',
  startup: 'START_UP',
  hobbyist: 'HOBBYIST',
  free: 'FREE',
} as const satisfies Record<Plan, string>;

/** Smallest `health_check_interval` in seconds, by plan. */
export const PLAN_MIN_HEALTH_CHECK_INTERVAL: Record<Plan, number> = {
  enterprise: 300,
  startup: 1200,
  hobbyist: 3600,
  free: 21600,
};

/** What a plan includes besides its smallest interval; everything not listed is part of every plan. */
export interface PlanInclusions {
  /** Projects besides the default one. */
  projects: boolean;
  /** Delivery of the audit log to the customer's buckets. */
  auditLogExports: boolean;
}

/** What each plan includes. */
export const PLAN_INCLUDES: Record<Plan, PlanInclusions> = {
  enterprise: { projects: true, auditLogExports: true },
  startup: { projects: true, auditLogExports: false },
  hobbyist: { projects: false, auditLogExports: false },
  free: { projects: false, auditLogExports: false },
};

/** Bounds and default of `health_check_interval`, in seconds. */
export const HEALTH_CHECK_INTERVAL = { min: 300, max: 86_400, default: 3600 } as const;

/** Lifetime of a flow from its login request, in milliseconds (wire.md, "Times"). */
export const FLOW_LIFETIME_MS = 20 * 60_000;
/** How long a flow waits for a person at each pause, in milliseconds. */
export const PERSON_WAIT_MS = 10 * 60_000;
/** How long an unattended flow waits for a code that arrives automatically, in milliseconds. */
export const CODE_WAIT_MS = 3 * 60_000;
/** Lifetime of a handoff code, in milliseconds: short, because it is part of a link. */
export const HANDOFF_LIFETIME_MS = 5 * 60_000;
/** Lifetime of the hosted page's token, in seconds: ten minutes longer than a flow's. */
export const HOSTED_TOKEN_LIFETIME_S = 30 * 60;
/** Delays after failed webhook attempts, in seconds: three days in all. The attempt after the last one is final. */
export const WEBHOOK_RETRY_DELAYS_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 73_800] as const;
/** How long the previous secret of a webhook keeps signing beside the new one, in milliseconds. */
export const FORMER_SECRET_SIGNS_MS = 24 * 60 * 60_000;
/** Page size of lists. */
export const PAGE = { default: 20, max: 100 } as const;
/** Longest value submitted for one field, in characters: long enough for private keys and recovery phrases. */
export const MAX_FIELD_VALUE_LENGTH = 16_384;

/** `health_check_interval` by default: 3600, or the plan's minimum if that is larger. */
export function defaultHealthCheckInterval(plan: Plan): number {
  return Math.max(HEALTH_CHECK_INTERVAL.default, PLAN_MIN_HEALTH_CHECK_INTERVAL[plan]);
}
