/** Plans of an organization; each bounds how often a health check may run (interface.md, "Limits"). */
export const PLANS = ['enterprise', 'startup', 'hobbyist', 'free'] as const;
export type Plan = (typeof PLANS)[number];

/** How clients write each plan. */
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

/** What a plan includes beside its smallest interval; everything that is not named is on every plan. */
export interface PlanInclusions {
  /** More projects than the default one. */
  projects: boolean;
  /** Deliveries of the audit log to buckets of one's own. */
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

/** How long a flow may live from its login request, in milliseconds (wire.md, "Times"). */
export const FLOW_LIFETIME_MS = 20 * 60_000;
/** How long a flow waits for a person at one pause, in milliseconds. */
export const PERSON_WAIT_MS = 10 * 60_000;
/** How long a flow with nobody there waits for a code that comes by itself, in milliseconds. */
export const CODE_WAIT_MS = 3 * 60_000;
/** How long a handoff code can be exchanged, in milliseconds: short, because it travels in a link. */
export const HANDOFF_LIFETIME_MS = 5 * 60_000;
/** How long the token of the hosted page is good for, in seconds: ten minutes longer than a flow can live. */
export const HOSTED_TOKEN_LIFETIME_S = 30 * 60;
/**
 * How long after each failed attempt a webhook's delivery is tried again, in seconds: three days in all. The attempt after the
 * last of them is the last.
 */
export const WEBHOOK_RETRY_DELAYS_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 73_800] as const;
/** How long the former secret of a webhook signs beside the new one, in milliseconds. */
export const FORMER_SECRET_SIGNS_MS = 24 * 60 * 60_000;
/** Page size of lists. */
export const PAGE = { default: 20, max: 100 } as const;
/** Longest value that a person may submit for one field, in characters: private keys and recovery phrases fit. */
export const MAX_FIELD_VALUE_LENGTH = 16_384;

/** `health_check_interval` of a connection whose caller named none: 3600, or the plan's minimum when that is larger. */
export function defaultHealthCheckInterval(plan: Plan): number {
  return Math.max(HEALTH_CHECK_INTERVAL.default, PLAN_MIN_HEALTH_CHECK_INTERVAL[plan]);
}
