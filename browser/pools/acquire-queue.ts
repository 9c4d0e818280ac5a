import type { BrowserPoolAcquire } from '../../contract/browser-pools.ts';
import type { Session } from '../session/session.ts';

/** A request to acquire a browser. With `invocationId`, the browser ends with that invocation. */
export interface PoolLease extends BrowserPoolAcquire {
  invocationId?: string | undefined;
}

/** A caller waiting for a browser. */
export interface Waiter {
  request: PoolLease;
  /** False if the caller no longer waits; the session then stays unassigned. */
  fulfill(session: Session): boolean;
  fail(error: unknown): void;
  /** Returns to the front of the queue, or times out if its time is up. */
  requeue(): void;
}

/** Callers waiting for a browser, first in, first out. */
interface AcquireQueue {
  length(): number;
  /** Resolves to null after the timeout, and when the caller disconnects. */
  wait(request: PoolLease, milliseconds: number, signal: AbortSignal): Promise<Session | null>;
  /** Takes the first caller out of the queue; its timeout is suspended until it is served or requeued. */
  next(): Waiter | undefined;
  rejectAll(error: unknown): void;
}

export function createAcquireQueue(): AcquireQueue {
  const entries: Waiter[] = [];
  const leave = (entry: Waiter): boolean => {
    const place = entries.indexOf(entry);
    if (place >= 0) entries.splice(place, 1);
    return place >= 0;
  };
  return {
    length: () => entries.length,
    wait: (request, milliseconds, signal) =>
      new Promise((resolve, reject) => {
        let settled = false;
        // Timed out while it was out of the queue.
        let late = false;
        const settle = (): boolean => {
          if (settled) return false;
          settled = true;
          clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          leave(entry);
          return true;
        };
        const giveUp = (): void => {
          if (settle()) resolve(null);
        };
        const timer = setTimeout(() => {
          late = true;
          if (entries.includes(entry)) giveUp();
        }, milliseconds);
        timer.unref();
        const entry: Waiter = {
          request,
          fulfill: (session) => {
            if (!settle()) return false;
            resolve(session);
            return true;
          },
          fail: (error) => {
            if (settle()) reject(error instanceof Error ? error : new Error('No browser is available'));
          },
          requeue: () => {
            if (late) giveUp();
            else if (!settled) entries.unshift(entry);
          },
        };
        signal.addEventListener('abort', giveUp);
        if (signal.aborted) giveUp();
        else entries.push(entry);
      }),
    next: () => entries.shift(),
    rejectAll: (error) => {
      for (const entry of [...entries]) entry.fail(error);
    },
  };
}
