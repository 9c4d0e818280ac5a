import type { BrowserPoolAcquire } from '../../contract/browser-pools.ts';
import type { Session } from '../session/session.ts';

/** What a browser is asked for with. `invocationId`: the one whose program asks; the browser ends with it. */
export interface PoolLease extends BrowserPoolAcquire {
  invocationId?: string | undefined;
}

/** Somebody who waits for a browser. */
export interface Waiter {
  request: PoolLease;
  /** False when nobody waits any more: the session is nobody's then. */
  answer(session: Session): boolean;
  fail(error: unknown): void;
  /** First in line again; out of it for good when the time is over. */
  putBack(): void;
}

/** Callers who wait for a browser, served in the order in which they came. */
interface AcquireQueue {
  length(): number;
  /** Resolves to null after so many milliseconds, and when the caller has gone. */
  wait(request: PoolLease, milliseconds: number, gone: AbortSignal): Promise<Session | null>;
  /** Takes the first out of the line; what it is handed may take a moment longer than it would wait. */
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
    wait: (request, milliseconds, gone) =>
      new Promise((resolve, reject) => {
        let settled = false;
        // Its time was over while it was out of the line.
        let late = false;
        const settle = (): boolean => {
          if (settled) return false;
          settled = true;
          clearTimeout(timer);
          gone.removeEventListener('abort', giveUp);
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
          answer: (session) => {
            if (!settle()) return false;
            resolve(session);
            return true;
          },
          fail: (error) => {
            if (settle()) reject(error instanceof Error ? error : new Error('No browser could be had'));
          },
          putBack: () => {
            if (late) giveUp();
            else if (!settled) entries.unshift(entry);
          },
        };
        gone.addEventListener('abort', giveUp);
        if (gone.aborted) giveUp();
        else entries.push(entry);
      }),
    next: () => entries.shift(),
    rejectAll: (error) => {
      for (const entry of [...entries]) entry.fail(error);
    },
  };
}
