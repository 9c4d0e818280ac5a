import type { Store } from '../store/store.ts';

/** How often expired submissions, codes and states are deleted, in milliseconds. */
const SWEEP_EVERY_MS = 60_000;

/** Deletes what has expired, now and every minute, until `stop`. A store that is away is tried again a minute later. */
export function startSweeper(store: Pick<Store, 'sweep'>): { stop(): void } {
  const sweep = (): void => {
    store.sweep().catch(() => undefined);
  };
  sweep();
  const timer = setInterval(sweep, SWEEP_EVERY_MS);
  timer.unref();
  return {
    stop: () => {
      clearInterval(timer);
    },
  };
}
