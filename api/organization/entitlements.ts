import { HoldfastError } from '../../contract/errors.ts';
import {
  PLAN_INCLUDES,
  PLAN_MIN_HEALTH_CHECK_INTERVAL,
  type Plan,
  type PlanInclusions,
} from '../../contract/limits.ts';
import { PROJECTS_DISABLED } from '../../store/queries/organizations.ts';
import type { ApiDeps } from '../context.ts';

type Deps = Pick<ApiDeps, 'store' | 'settings'>;

/** What an organization may use: the features of its plan, minus those its owners have disabled. */
export interface Entitlements extends PlanInclusions {
  plan: Plan;
  /** In seconds. */
  minHealthCheckInterval: number;
  /** Null: unlimited. */
  maxAuthConnections: number | null;
}

/** The current entitlements of an organization. All organizations of an installation share its plan. */
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

/** Throws `projects_disabled` if the plan or the organization's owners allow only the default project. */
export async function requireProjects(deps: Deps, organizationId: string): Promise<void> {
  const { plan } = deps.settings;
  if (!PLAN_INCLUDES[plan].projects)
    throw new HoldfastError('projects_disabled', `The ${plan} plan does not include projects; do not select one`);
  const { projects } = await entitlementsOf(deps, organizationId);
  if (!projects) throw new HoldfastError('projects_disabled', PROJECTS_DISABLED);
}

/** Throws `insufficient_plan` if the plan does not include a feature. `name`: plural, as the sentence begins. */
export function requireFeature(
  { settings: { plan } }: Pick<Deps, 'settings'>,
  feature: keyof PlanInclusions,
  name: string,
) {
  if (PLAN_INCLUDES[plan][feature]) return;
  throw new HoldfastError(
    'insufficient_plan',
    `${name} are not part of the ${plan} plan; the operator sets the plan with HOLDFAST_PLAN`,
  );
}
