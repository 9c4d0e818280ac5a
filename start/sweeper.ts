import type { ConnectionsClient } from '../client/connections-client.ts';
import type { CodeInbox } from '../codes/inbox.ts';
import type { WebhookLanes } from '../client/delivery-clients.ts';
import type { Store } from '../store/store.ts';

/** How often expired submissions, codes and states are deleted, in milliseconds. */
const SWEEP_EVERY_MS = 60_000;
/** How often a step of the walk over all connections is taken, in milliseconds, and how many it looks at. */
const STEP_EVERY_MS = 15_000;
const STEP_SIZE = 100;
/** How often events for webhooks are looked for, in milliseconds, and how many are handed over at a time. */
const DISPATCH_EVERY_MS = 1000;
const DISPATCH_SIZE = 100;
/** Shorter than a step, so that a process alone has every turn, however exact its timer is. */
const TURN_MS = 12_000;

/** A task that runs until it is stopped. */
export interface PeriodicTask {
  stop(): void;
}

/** Deletes what has expired, now and every minute. A store that is away is tried again a minute later. */
export function startSweeper(store: Pick<Store, 'sweep'>): PeriodicTask {
  return repeat(() => store.sweep(), SWEEP_EVERY_MS);
}

/**
 * Walks over all connections, a hundred at a time, and has those go on whose workflow was ended from outside, so that their
 * health checks go on and their rows tell the truth without a call. Processes on one store take turns: ten thousand
 * connections are walked over in 25 minutes, however many processes there are.
 */
export function startReviver(
  store: Pick<Store, 'rateLimiter'> & { connections: Pick<Store['connections'], 'idsAfter'> },
  connections: Pick<ConnectionsClient, 'revive'>,
): PeriodicTask {
  const turns = store.rateLimiter('revive', { burst: 1, perSecond: 1000 / TURN_MS });
  let last: string | null = null;
  return repeat(async () => {
    if ((await turns.take('step')).retryAfterSeconds > 0) return;
    const ids = await store.connections.idsAfter(last, STEP_SIZE);
    for (const id of ids) {
      // One that cannot be revived must not be in the way of the others for ever.
      last = id;
      await connections.revive(id);
    }
    if (ids.length < STEP_SIZE) last = null;
  }, STEP_EVERY_MS);
}

/**
 * Hands events that were written with a connection's state over to the workflows that deliver them, every second. What a
 * process had in hand when it was killed is handed over by another, half a minute later.
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

/** Brings codes that came before their step to the flows that have come to it, every second. */
export function startCodeDelivery(inbox: Pick<CodeInbox, 'deliverAll'>): PeriodicTask {
  return repeat(() => inbox.deliverAll(), DISPATCH_EVERY_MS);
}

/** Runs work now and every `everyMs`, one at a time. Work that fails, because a server is away, is due again at its next time. */
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
