import type { AppsClient } from '../client/apps-client.ts';
import type { AuditExportsClient } from '../client/delivery-clients.ts';
import type { Store } from '../store/store.ts';
import { repeat, type PeriodicTask } from './periodic-tasks.ts';

/** How often unfinished deployments and invocations are checked, in milliseconds, how many of each, and from which age. */
const APPS_EVERY_MS = 30_000;
const APPS_BATCH = 500;
const APPS_MIN_AGE_MS = 30_000;

/** Dependencies of {@link reviveApps}. */
export interface AppReviverDeps {
  store: Pick<Store, 'deployments' | 'invocations' | 'apiKeys'>;
  apps: Pick<AppsClient, 'deploy' | 'invoke' | 'state'>;
  /** Ends the browser sessions of an invocation. */
  endBrowsers(projectId: string, invocationId: string): Promise<void>;
}

/**
 * Starts or ends deployments and invocations without a running workflow. Those whose API process was killed before it started
 * the workflow are started. Those whose workflow was terminated fail with a reason, as do invocations whose workflow was lost
 * with its server. A lost build is repeatable, so it is started again.
 */
export function startAppReviver(deps: AppReviverDeps): PeriodicTask {
  return repeat(() => reviveApps(deps, new Date()), APPS_EVERY_MS);
}

/** One pass. A failure does not block the others: the first one is thrown at the end. */
export async function reviveApps(deps: AppReviverDeps, now: Date): Promise<void> {
  const { deployments, invocations } = deps.store;
  const before = new Date(now.getTime() - APPS_MIN_AGE_MS);
  const steps = [
    ...(await deployments.unfinished(before, APPS_BATCH)).map((id) => () => reviveDeployment(deps, id)),
    ...(await invocations.unfinished(before, APPS_BATCH)).map((id) => () => reviveInvocation(deps, id, now)),
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
  const reason = 'The workflow of the deployment was terminated; deploy again';
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
  // The cleanup of its workflow. The row comes last, because an ended invocation is not checked again.
  await apiKeys.removeForInvocation(id);
  await deps.endBrowsers(projectId, id).catch((error: unknown) => {
    if (timeoutMs > 0) throw error;
  });
  await invocations.end(id, 'failed', { reason: 'The workflow of the invocation was terminated' });
}

/** How often active export destinations are checked, in milliseconds, and how many at a time. Export windows are far longer. */
const EXPORTS_EVERY_MS = 60_000;
const EXPORTS_BATCH = 100;

/**
 * Restarts the workflows of active export destinations that do not run: terminated, lost with the server, or never started.
 * Their rows contain the position to resume from.
 */
export function startExportReviver(
  destinations: Pick<Store['auditExportDestinations'], 'activeIdsAfter'>,
  exports: Pick<AuditExportsClient, 'start'>,
): PeriodicTask {
  return repeat(() => reviveExports(destinations, exports), EXPORTS_EVERY_MS);
}

/** One pass over all active destinations. Throws if Temporal is unavailable. */
export async function reviveExports(
  destinations: Pick<Store['auditExportDestinations'], 'activeIdsAfter'>,
  exports: Pick<AuditExportsClient, 'start'>,
): Promise<void> {
  let ids: string[] = [];
  do {
    ids = await destinations.activeIdsAfter(ids.at(-1) ?? null, EXPORTS_BATCH);
    for (const id of ids) await exports.start(id);
  } while (ids.length === EXPORTS_BATCH);
}
