import type { AppsClient } from '../client/apps-client.ts';
import type { Store } from '../store/store.ts';
import { repeat, type PeriodicTask } from './sweeper.ts';

/** How often invocations that have not ended are looked at, in milliseconds, how many, and from which age. */
const LOOK_EVERY_MS = 30_000;
const LOOK_AT = 500;
const FROM_AGE_MS = 30_000;

/**
 * Has invocations that nobody runs begin or end: one whose API process was killed before its workflow was started is started; one
 * whose workflow was ended from outside, or lost with its server, ends with a reason.
 */
export function startAppReviver(store: Pick<Store, 'invocations'>, apps: AppsClient): PeriodicTask {
  return repeat(() => reviveInvocations(store, apps, new Date()), LOOK_EVERY_MS);
}

/** One look at all of them. */
export async function reviveInvocations(
  { invocations }: Pick<Store, 'invocations'>,
  apps: AppsClient,
  now: Date,
): Promise<void> {
  for (const id of await invocations.unfinished(new Date(now.getTime() - FROM_AGE_MS), LOOK_AT)) {
    const state = await apps.state('invocation', id);
    if (state === 'running') continue;
    const invocation = await invocations.byId(id);
    if (invocation === null) continue;
    const { status, retries, expiresAt } = invocation;
    const timeoutMs = expiresAt.getTime() - now.getTime();
    if (state === 'none' && status === 'queued' && timeoutMs > 0) {
      await apps.invoke({ invocationId: id, timeoutMs, retries });
      continue;
    }
    await invocations.end(id, 'failed', { reason: 'The workflow of the invocation was ended from outside' });
  }
}
