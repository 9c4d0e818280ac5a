import type { LaunchChoices } from './flags.ts';
import type { Chromium } from './launch.ts';

/** How long after a hand-out the next one is started, in milliseconds: the session that was just made comes first. */
const REFILL_DELAY_MS = 1_000;
/** Pause before another try when a start failed, in milliseconds. */
const RETRY_DELAY_MS = 5_000;

/** Browsers that are started ahead of need. */
export interface WarmPool {
  /**
   * A browser of these choices: one that waits, else one that is just starting (it is there sooner than a new one would
   * be). Null when there is neither, or its start failed. It belongs to the caller then.
   */
  take(choices: LaunchChoices): Promise<Chromium | null>;
  close(): Promise<void>;
}

/** What {@link createWarmPool} needs. */
export interface WarmPoolDeps {
  size: number;
  choices: LaunchChoices;
  launch: () => Promise<Chromium>;
  onError: (error: unknown) => void;
}

/** A place of the pool: a browser that waits or is about to. `null` when its start failed. */
type Place = Promise<Chromium | null>;

/** Keeps `size` browsers of one kind ready. Those that die while they wait are replaced. */
export function createWarmPool(deps: WarmPoolDeps): WarmPool {
  const places = new Set<Place>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const refillIn = (milliseconds: number): void => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(refill, milliseconds);
    timer.unref();
  };
  const refill = (): void => {
    if (closed || places.size >= deps.size) return;
    const place: Place = deps.launch().then(
      (chromium) => {
        void chromium.exited.then(() => {
          if (!places.delete(place)) return;
          void chromium.dispose();
          refillIn(RETRY_DELAY_MS);
        });
        refillIn(0);
        return chromium;
      },
      (error: unknown) => {
        deps.onError(error);
        if (places.delete(place)) refillIn(RETRY_DELAY_MS);
        return null;
      },
    );
    places.add(place);
  };
  refill();

  return {
    take: async (choices) => {
      const [place] = places;
      if (place === undefined || !isSame(deps.choices, choices)) return null;
      places.delete(place);
      refillIn(REFILL_DELAY_MS);
      return place;
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      const left = [...places];
      places.clear();
      await Promise.all(left.map(async (place) => (await place)?.dispose()));
    },
  };
}

function isSame(left: LaunchChoices, right: LaunchChoices): boolean {
  // Policies hold from the start of a browser on: one that has its own is never started ahead of need.
  if (left.policy !== null || right.policy !== null) return false;
  return left.headless === right.headless && left.stealth === right.stealth && left.kioskMode === right.kioskMode;
}
