import type { ConnectionsClient } from '../client/connections-client.ts';
import type { CodeInbox } from '../codes/inbox.ts';
import type { WebhookLanes } from '../client/delivery-clients.ts';
import type { Store } from '../store/store.ts';

/** All intervals are in milliseconds. */
const SWEEP_EVERY_MS = 60_000;
/** The interval and batch size of the pass over all connections. */
const STEP_EVERY_MS = 15_000;
const STEP_SIZE = 100;
/** The interval and batch size of dispatching webhook deliveries. */
const DISPATCH_EVERY_MS = 1000;
const DISPATCH_SIZE = 100;
/** Shorter than a step, so that a single process gets every turn even with an imprecise timer. */
const STEP_TURN_MS = 12_000;

/** A task that runs until stopped. */
export interface PeriodicTask {
  stop(): void;
}

/** Deletes expired rows, now and every minute. If the store is unavailable, retries a minute later. */
export function startSweeper(store: Pick<Store, 'sweep'>): PeriodicTask {
  return repeat(() => store.sweep(), SWEEP_EVERY_MS);
}

/**
 * Restarts the workflows of connections that were terminated, so that health checks continue and rows stay current without a
 * call. Checks a hundred connections at a time; processes on one store take turns, so ten thousand connections take 25 minutes
 * with any number of processes.
 */
export function startReviver(
  store: Pick<Store, 'rateLimiter'> & { connections: Pick<Store['connections'], 'idsAfter'> },
  connections: Pick<ConnectionsClient, 'revive'>,
): PeriodicTask {
  const turns = store.rateLimiter('revive', { burst: 1, perSecond: 1000 / STEP_TURN_MS });
  let last: string | null = null;
  return repeat(async () => {
    if ((await turns.take('step')).retryAfterSeconds > 0) return;
    const ids = await store.connections.idsAfter(last, STEP_SIZE);
    for (const id of ids) {
      // A connection that cannot be revived must not block the others forever.
      last = id;
      await connections.revive(id);
    }
    if (ids.length < STEP_SIZE) last = null;
  }, STEP_EVERY_MS);
}

/**
 * Hands due webhook deliveries to the workflows that send them, every second. If the process is killed meanwhile, another one
 * takes over half a minute later.
 */
export function startWebhookDispatcher(
  deliveries: Pick<Store['webhookDeliveries'], 'claimDueLanes' | 'markDispatched'>,
  lanes: WebhookLanes,
): PeriodicTask {
  return repeat(async () => {
    for (const lane of await deliveries.claimDueLanes(DISPATCH_SIZE)) {
      await lanes.wake(lane);
      await deliveries.markDispatched(lane);
    }
  }, DISPATCH_EVERY_MS);
}

/** Delivers codes that arrived early to flows that now wait for them, every second. */
export function startCodeDelivery(inbox: Pick<CodeInbox, 'deliverAll'>): PeriodicTask {
  return repeat(() => inbox.deliverAll(), DISPATCH_EVERY_MS);
}

/** Runs `work` now and every `everyMs`, never concurrently. Failures (a server is unavailable) wait for the next run. */
export function repeat(work: () => Promise<unknown>, everyMs: number): PeriodicTask {
  let running = false;
  const run = async (): Promise<void> => {
    if (running) return;
    running = true;
    await work().catch(() => undefined);
    running = false;
  };
  void run();
  const timer = setInterval(() => void run(), everyMs);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
}
