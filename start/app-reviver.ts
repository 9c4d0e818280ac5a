import type { AppsClient } from '../client/apps-client.ts';
import type { Store } from '../store/store.ts';
import { repeat, type PeriodicTask } from './sweeper.ts';

/** How often what has not ended is looked at, in milliseconds, how many of each kind, and from which age. */
const LOOK_EVERY_MS = 30_000;
const LOOK_AT = 500;
const FROM_AGE_MS = 30_000;

/** What {@link reviveApps} works with. */
export interface AppReviverDeps {
  store: Pick<Store, 'deployments' | 'invocations' | 'apiKeys'>;
  apps: Pick<AppsClient, 'deploy' | 'invoke' | 'state'>;
  /** Ends the browser sessions of an invocation. */
  endBrowsers(projectId: string, invocationId: string): Promise<void>;
}

/**
 * Has deployments and invocations that nobody works at begin or end: those whose API process was killed before their workflow
 * was started are started; those whose workflow was ended from outside end with a reason, as do invocations whose workflow was
 * lost with its server. A build that was lost so is begun anew: it can be repeated.
 */
export function startAppReviver(deps: AppReviverDeps): PeriodicTask {
  return repeat(() => reviveApps(deps, new Date()), LOOK_EVERY_MS);
}

/** One look at all of them. One that cannot be helped now is not in the way of the others: the first failure is thrown at the end. */
export async function reviveApps(deps: AppReviverDeps, now: Date): Promise<void> {
  const { deployments, invocations } = deps.store;
  const before = new Date(now.getTime() - FROM_AGE_MS);
  const steps = [
    ...(await deployments.unfinished(before, LOOK_AT)).map((id) => () => reviveDeployment(deps, id)),
    ...(await invocations.unfinished(before, LOOK_AT)).map((id) => () => reviveInvocation(deps, id, now)),
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function reviveDeployment({ store, apps }: AppReviverDeps, id: string): Promise<void> {
  const state = await apps.state('deployment', id);
  if (state === 'running') return;
  if (state === 'none') {
    await apps.deploy(id);
    return;
  }
  const reason = 'The workflow of the deployment was ended from outside; deploy again';
  await store.deployments.end(id, 'failed', reason);
}

async function reviveInvocation(deps: AppReviverDeps, id: string, now: Date): Promise<void> {
  const { apps, store } = deps;
  const { invocations, apiKeys } = store;
  const state = await apps.state('invocation', id);
  if (state === 'running') return;
  const invocation = await invocations.byId(id);
  if (invocation === null || invocation.finishedAt !== null) return;
  const { status, retries, expiresAt, projectId } = invocation;
  const timeoutMs = expiresAt.getTime() - now.getTime();
  if (state === 'none' && status === 'queued' && timeoutMs > 0) {
    await apps.invoke({ invocationId: id, timeoutMs, retries });
    return;
  }
  // What its workflow would have cleaned up; the row is last, for an invocation that has ended is not looked at again.
  await apiKeys.removeForInvocation(id);
  await deps.endBrowsers(projectId, id).catch((error: unknown) => {
    if (timeoutMs > 0) throw error;
  });
  await invocations.end(id, 'failed', { reason: 'The workflow of the invocation was ended from outside' });
}
