import { HoldfastError } from '../contract/errors.ts';
import { PLAN_INCLUDES, PLAN_MIN_HEALTH_CHECK_INTERVAL, type Plan, type PlanInclusions } from '../contract/limits.ts';
import { PROJECTS_DISABLED } from '../store/queries/organizations.ts';
import type { ApiDeps } from './context.ts';

type Deps = Pick<ApiDeps, 'store' | 'settings'>;

/** What an organization may do: what its plan includes, less what its owners have turned off. */
export interface Entitlements extends PlanInclusions {
  plan: Plan;
  /** In seconds. */
  minHealthCheckInterval: number;
  /** Null: no bound. */
  maxAuthConnections: number | null;
}

/** What an organization may do now. All organizations of an installation have its plan. */
export async function entitlementsOf(
  { store, settings: { plan } }: Deps,
  organizationId: string,
): Promise<Entitlements> {
  const organization = await store.organizations.find(organizationId);
  const included = PLAN_INCLUDES[plan];
  return {
    ...included,
    projects: included.projects && organization?.projectsDisabled !== true,
    plan,
    minHealthCheckInterval: PLAN_MIN_HEALTH_CHECK_INTERVAL[plan],
    maxAuthConnections: organization?.maxAuthConnections ?? null,
  };
}

/** Throws `projects_disabled` where there is the default project alone, by the plan or by choice. */
export async function requireProjects(deps: Deps, organizationId: string): Promise<void> {
  const { plan } = deps.settings;
  if (!PLAN_INCLUDES[plan].projects)
    throw new HoldfastError('projects_disabled', `The ${plan} plan has no projects; name none`);
  const { projects } = await entitlementsOf(deps, organizationId);
  if (!projects) throw new HoldfastError('projects_disabled', PROJECTS_DISABLED);
}

/** Throws `insufficient_plan` for what the plan does not include. `what` begins the sentence. */
export function requireIncluded(
  { settings: { plan } }: Pick<Deps, 'settings'>,
  part: keyof PlanInclusions,
  what: string,
) {
  if (PLAN_INCLUDES[plan][part]) return;
  throw new HoldfastError(
    'insufficient_plan',
    `${what} not part of the ${plan} plan; the operator chooses the plan by HOLDFAST_PLAN`,
  );
}
