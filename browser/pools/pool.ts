import { ACQUIRE_WAIT_MAX_S, FILL_RATE_DEFAULT } from '../../contract/browser-pools.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Session } from '../session/session.ts';
import { createFillRate } from './fill-rate.ts';
import type { StoredPool } from './definition.ts';
import { createAcquireQueue, type PoolLease, type Waiter } from './acquire-queue.ts';

/** Browsers of a pool that start at the same time with nobody waiting for them. */
const STARTS_AHEAD = 1;
/** Pause before another try when a start failed, in milliseconds. */
const RETRY_DELAY_MS = 2_000;

/** What a pool does with browsers. */
export interface PoolBrowsers {
  /** Starts one that waits in the pool. */
  start(pool: StoredPool): Promise<Session>;
  /** Makes another session of the same browser, which waits again. Rejects when it is not to be had any more. */
  renew(pool: StoredPool, session: Session): Promise<Session>;
  /** False for one that does not answer. */
  isAlive(session: Session): Promise<boolean>;
  /** False for one whose profile has changed since, where the pool is to follow it. */
  isFresh(pool: StoredPool, session: Session): Promise<boolean>;
  /** Makes a session that waits its caller's own. Rejects when the lease cannot be had; the session waits on then. */
  lease(session: Session, request: PoolLease): Promise<void>;
  /** Ends a session; what goes wrong is logged where it happens. */
  end(session: Session, cause: 'deleted' | 'released'): Promise<void>;
}

/** Keeps browsers of one kind ready, and hands them out in the order in which they are asked for. */
export interface BrowserPool {
  stored(): StoredPool;
  counts(): { acquired: number; available: number };
  /**
   * Null when none came free in time, or the caller has gone. Rejects when the pool's browsers cannot be started; where the
   * service has no place for them, when the time is over.
   */
  acquire(request: PoolLease, gone: AbortSignal): Promise<Session | null>;
  /** Rejects with `not_found` for a session that nobody has acquired from this pool. */
  release(sessionId: string, reuse: boolean): Promise<void>;
  /** Those that nobody has acquired. */
  waiting(): Session[];
  /** Ends the browsers that wait; others take their places. */
  flush(): Promise<void>;
  /** New browsers are started so from now on; browsers too many end. */
  change(stored: StoredPool): void;
  /** Nothing is started or handed out any more; resolves when what was being started has ended. */
  stop(): Promise<void>;
  /** The same, and ends all its sessions. */
  close(): Promise<void>;
}

/** A browser of the pool. `resume` lets its time-out count again; null once it is somebody's. */
interface Member {
  session: Session;
  resume: (() => void) | null;
}

export function createBrowserPool(initial: StoredPool, browsers: PoolBrowsers): BrowserPool {
  let stored = initial;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  /** Nothing is started before that, for the last start failed; in milliseconds since 1970. */
  let pausedUntil = 0;
  /** Why the last start found no place; null since one has. */
  let refusal: HoldfastError | null = null;
  const members = new Map<string, Member>();
  const starting = new Set<Promise<void>>();
  const line = createAcquireQueue();
  const fillRate = createFillRate(rateOf(stored));

  const waiting = (): Member[] => [...members.values()].filter(({ resume }) => resume !== null);
  const missing = (): number => stored.config.size - members.size - starting.size;

  const discard = (member: Member): Promise<void> => {
    // At once, so that nobody is handed what is about to end.
    members.delete(member.session.record.id);
    return browsers.end(member.session, 'deleted');
  };

  /** Takes in a browser that waits from now on. */
  const takeIn = (session: Session): void => {
    const { id } = session.record;
    members.set(id, { session, resume: session.activity.begin() });
    refusal = null;
    session.onEnd.add(() => {
      if (members.delete(id)) keepFull();
    });
  };

  /** Holds a place for what will wait in the pool. It may fail: the pool tries again after a while. */
  const bring = (source: Promise<Session>): Promise<void> => {
    const place = source
      .then(
        async (session) => {
          if (closed || missing() < 0) await browsers.end(session, 'deleted');
          else takeIn(session);
        },
        (error: unknown) => {
          pausedUntil = Date.now() + RETRY_DELAY_MS;
          // No place is left for now, or a browser did not come up: another try may do. Else every try would fail.
          const passes =
            !(error instanceof HoldfastError) || ['capacity_exhausted', 'browser_error', 'gone'].includes(error.code);
          if (!passes) line.rejectAll(error);
          refusal = error instanceof HoldfastError && error.code === 'capacity_exhausted' ? error : null;
        },
      )
      .finally(() => {
        starting.delete(place);
        keepFull();
      });
    starting.add(place);
    return place;
  };

  const keepFull = (): void => {
    clearTimeout(timer);
    if (closed) return;
    for (const member of waiting()) {
      const waiter = line.next();
      if (waiter === undefined) break;
      void handOver(member, waiter);
    }
    for (const member of waiting().slice(0, Math.max(0, -missing()))) void discard(member);
    const now = Date.now();
    if (missing() <= 0) return;
    if (now < pausedUntil) {
      keepFullIn(pausedUntil - now);
      return;
    }
    // Who waits is not kept waiting for the fill rate.
    while (missing() > 0 && line.length() > starting.size) void bring(browsers.start(stored));
    while (missing() > 0 && starting.size < STARTS_AHEAD) {
      const due = fillRate.take(now);
      if (due > 0) {
        if (Number.isFinite(due)) keepFullIn(due);
        return;
      }
      void bring(browsers.start(stored));
    }
  };

  const keepFullIn = (milliseconds: number): void => {
    timer = setTimeout(keepFull, milliseconds);
    timer.unref();
  };

  const isFit = async (session: Session): Promise<boolean> =>
    (await browsers.isAlive(session)) && (await browsers.isFresh(stored, session));

  const handOver = async (member: Member, waiter: Waiter): Promise<void> => {
    const { resume } = member;
    member.resume = null;
    try {
      if (!(await isFit(member.session))) {
        waiter.putBack();
        void discard(member);
        keepFull();
        return;
      }
      await browsers.lease(member.session, waiter.request);
      resume?.();
      if (waiter.answer(member.session)) return;
      // Its caller has gone meanwhile.
      await giveBack(member, true);
    } catch (error) {
      waiter.fail(error);
      member.resume = resume;
      keepFull();
    }
  };

  const giveBack = async (member: Member, reuse: boolean): Promise<void> => {
    if (closed || !reuse || missing() < 0) {
      await browsers.end(member.session, 'released');
      return;
    }
    // The place is held before the old session leaves it.
    members.delete(member.session.record.id);
    await bring(browsers.renew(stored, member.session));
  };

  const stop = async (): Promise<void> => {
    closed = true;
    clearTimeout(timer);
    line.rejectAll(new HoldfastError('gone', 'The browser pool was closed'));
    await Promise.all(starting);
  };

  keepFull();
  return {
    stored: () => stored,
    counts: () => {
      const available = waiting().length;
      return { available, acquired: members.size - available };
    },
    acquire: (request, gone) => {
      if (closed) throw new HoldfastError('gone', 'The browser pool was closed');
      const rate = rateOf(stored).percent;
      const seconds = request.acquire_timeout_seconds ?? (100 / rate) * 60;
      const answer = line.wait(request, Math.min(seconds, ACQUIRE_WAIT_MAX_S) * 1000, gone);
      pausedUntil = 0;
      keepFull();
      return answer.then((session) => {
        // "None came free" would be less than the truth.
        if (session === null && refusal !== null && missing() > 0 && !gone.aborted) throw refusal;
        return session;
      });
    },
    release: async (sessionId, reuse) => {
      const member = members.get(sessionId);
      if (member === undefined || member.resume !== null || member.session.record.idle) {
        throw new HoldfastError('not_found', 'session_id: no browser in use of this pool has this id');
      }
      await giveBack(member, reuse);
    },
    waiting: () => waiting().map(({ session }) => session),
    flush: async () => {
      const ends = waiting().map((member) => discard(member));
      fillRate.refill();
      keepFull();
      await Promise.all(ends);
    },
    change: (changed) => {
      stored = changed;
      fillRate.set(rateOf(changed));
      pausedUntil = 0;
      keepFull();
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
