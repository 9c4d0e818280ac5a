import { ACQUIRE_WAIT_MAX_S, FILL_RATE_DEFAULT } from '../../contract/browser-pools.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Session } from '../session/session.ts';
import { createFillRate } from './fill-rate.ts';
import type { StoredPool } from './definition.ts';
import { createAcquireQueue, type PoolLease, type Waiter } from './acquire-queue.ts';

/** Concurrent starts while no caller is waiting. */
const MAX_BACKGROUND_STARTS = 1;
/** Delay after a failed start, in milliseconds. */
const RETRY_DELAY_MS = 2_000;

/** Operations of a pool on its browsers. */
export interface PoolBrowsers {
  /** Starts an idle browser. */
  start(pool: StoredPool): Promise<Session>;
  /** Replaces the session of a browser by a new, idle one. Rejects if the browser is no longer available. */
  renew(pool: StoredPool, session: Session): Promise<Session>;
  /** False if the browser does not respond. */
  isAlive(session: Session): Promise<boolean>;
  /** False if its profile has changed and the pool refreshes on profile updates. */
  isFresh(pool: StoredPool, session: Session): Promise<boolean>;
  /** Assigns an idle session to the caller. If this rejects, the session stays idle. */
  lease(session: Session, request: PoolLease): Promise<void>;
  /** Ends a session. Never rejects. */
  end(session: Session, cause: 'deleted' | 'released'): Promise<void>;
}

/** Keeps browsers of one kind ready and leases them, first come, first served. */
export interface BrowserPool {
  stored(): StoredPool;
  counts(): { acquired: number; available: number };
  /**
   * Null if none became available in time, or the caller disconnected. Rejects if browsers fail to start, or the service is still
   * at capacity when the time is up.
   */
  acquire(request: PoolLease, signal: AbortSignal): Promise<Session | null>;
  /** Rejects with `not_found` for a session that is not acquired from this pool. */
  release(sessionId: string, reuse: boolean): Promise<void>;
  /** Sessions that are not acquired. */
  idle(): Session[];
  /** Ends and replaces the idle browsers. */
  flush(): Promise<void>;
  /** Applies a new configuration to browsers started from now on, and ends surplus ones. */
  reconfigure(stored: StoredPool): void;
  /** Stops starting and leasing browsers; resolves when pending starts have settled. */
  stop(): Promise<void>;
  /** Stops, and ends all sessions. */
  close(): Promise<void>;
}

/** A browser of the pool. `resume` restarts its idle timeout when leased; null from then on. */
interface Member {
  session: Session;
  resume: (() => void) | null;
}

export function createBrowserPool(initial: StoredPool, browsers: PoolBrowsers): BrowserPool {
  let stored = initial;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  /** No start is attempted before this time (epoch ms), because the last one failed. */
  let retryAt = 0;
  /** Why the last start was out of capacity; null once one succeeds. */
  let capacityError: HoldfastError | null = null;
  const members = new Map<string, Member>();
  const starting = new Set<Promise<void>>();
  const queue = createAcquireQueue();
  const fillRate = createFillRate(rateOf(stored));

  const idleMembers = (): Member[] => [...members.values()].filter(({ resume }) => resume !== null);
  const missing = (): number => stored.config.size - members.size - starting.size;

  const discard = (member: Member): Promise<void> => {
    // Removed first, so that it cannot be leased while it ends.
    members.delete(member.session.record.id);
    return browsers.end(member.session, 'deleted');
  };

  const addIdleMember = (session: Session): void => {
    const { id } = session.record;
    members.set(id, { session, resume: session.activity.begin() });
    capacityError = null;
    session.onEnd.add(() => {
      if (members.delete(id)) reconcile();
    });
  };

  /** Reserves a slot for a browser that is starting. If it fails, the pool retries later. */
  const fillSlot = (source: Promise<Session>): Promise<void> => {
    const start = source
      .then(
        async (session) => {
          if (closed || missing() < 0) await browsers.end(session, 'deleted');
          else addIdleMember(session);
        },
        (error: unknown) => {
          retryAt = Date.now() + RETRY_DELAY_MS;
          // Out of capacity, or the browser failed to start: retry. Any other error would recur, so waiting is futile.
          const isRetriable =
            !(error instanceof HoldfastError) || ['capacity_exhausted', 'browser_error', 'gone'].includes(error.code);
          if (!isRetriable) queue.rejectAll(error);
          capacityError = error instanceof HoldfastError && error.code === 'capacity_exhausted' ? error : null;
        },
      )
      .finally(() => {
        starting.delete(start);
        reconcile();
      });
    starting.add(start);
    return start;
  };

  const reconcile = (): void => {
    clearTimeout(timer);
    if (closed) return;
    for (const member of idleMembers()) {
      const waiter = queue.next();
      if (waiter === undefined) break;
      void leaseTo(member, waiter);
    }
    for (const member of idleMembers().slice(0, Math.max(0, -missing()))) void discard(member);
    const now = Date.now();
    if (missing() <= 0) return;
    if (now < retryAt) {
      reconcileIn(retryAt - now);
      return;
    }
    // Waiting callers take precedence over the fill rate.
    while (missing() > 0 && queue.length() > starting.size) void fillSlot(browsers.start(stored));
    while (missing() > 0 && starting.size < MAX_BACKGROUND_STARTS) {
      const due = fillRate.take(now);
      if (due > 0) {
        if (Number.isFinite(due)) reconcileIn(due);
        return;
      }
      void fillSlot(browsers.start(stored));
    }
  };

  const reconcileIn = (milliseconds: number): void => {
    timer = setTimeout(reconcile, milliseconds);
    timer.unref();
  };

  const isUsable = async (session: Session): Promise<boolean> =>
    (await browsers.isAlive(session)) && (await browsers.isFresh(stored, session));

  const leaseTo = async (member: Member, waiter: Waiter): Promise<void> => {
    const { resume } = member;
    member.resume = null;
    try {
      if (!(await isUsable(member.session))) {
        waiter.requeue();
        void discard(member);
        reconcile();
        return;
      }
      await browsers.lease(member.session, waiter.request);
      resume?.();
      if (waiter.fulfill(member.session)) return;
      // The caller has disconnected.
      await returnMember(member, true);
    } catch (error) {
      waiter.fail(error);
      member.resume = resume;
      reconcile();
    }
  };

  const returnMember = async (member: Member, reuse: boolean): Promise<void> => {
    if (closed || !reuse || missing() < 0) {
      await browsers.end(member.session, 'released');
      return;
    }
    // Reserve the slot before the old session frees it.
    members.delete(member.session.record.id);
    await fillSlot(browsers.renew(stored, member.session));
  };

  const stop = async (): Promise<void> => {
    closed = true;
    clearTimeout(timer);
    queue.rejectAll(new HoldfastError('gone', 'The browser pool was closed'));
    await Promise.all(starting);
  };

  reconcile();
  return {
    stored: () => stored,
    counts: () => {
      const available = idleMembers().length;
      return { available, acquired: members.size - available };
    },
    acquire: (request, signal) => {
      if (closed) throw new HoldfastError('gone', 'The browser pool was closed');
      const rate = rateOf(stored).percent;
      const seconds = request.acquire_timeout_seconds ?? (100 / rate) * 60;
      const acquired = queue.wait(request, Math.min(seconds, ACQUIRE_WAIT_MAX_S) * 1000, signal);
      retryAt = 0;
      reconcile();
      return acquired.then((session) => {
        // More precise than "none available".
        if (session === null && capacityError !== null && missing() > 0 && !signal.aborted) throw capacityError;
        return session;
      });
    },
    release: async (sessionId, reuse) => {
      const member = members.get(sessionId);
      if (member === undefined || member.resume !== null || member.session.record.idle) {
        throw new HoldfastError('not_found', 'session_id: not acquired from this pool');
      }
      await returnMember(member, reuse);
    },
    idle: () => idleMembers().map(({ session }) => session),
    flush: async () => {
      const ends = idleMembers().map((member) => discard(member));
      fillRate.refill();
      reconcile();
      await Promise.all(ends);
    },
    reconfigure: (changed) => {
      stored = changed;
      fillRate.set(rateOf(changed));
      retryAt = 0;
      reconcile();
    },
    stop,
    close: async () => {
      await stop();
      await Promise.all([...members.values()].map((member) => discard(member)));
    },
  };
}

function rateOf({ config }: StoredPool): { size: number; percent: number } {
  return { size: config.size, percent: config.fill_rate_per_minute ?? FILL_RATE_DEFAULT };
}
