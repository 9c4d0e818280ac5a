import type { LaunchChoices } from './flags.ts';
import type { Chromium } from './launch.ts';

/** How long after a hand-out the next one is started, in milliseconds: the session that was just made comes first. */
const REFILL_DELAY_MS = 400;
/** Pause before another try when a start failed, in milliseconds. */
const RETRY_DELAY_MS = 5_000;

/** Browsers that are started ahead of need. */
export interface WarmPool {
  /** A running browser of these choices, or null when none waits. It belongs to the caller then. */
  take(choices: LaunchChoices): Chromium | null;
  close(): Promise<void>;
}

/** What {@link createWarmPool} needs. */
export interface WarmPoolDeps {
  size: number;
  choices: LaunchChoices;
  launch: () => Promise<Chromium>;
  onError: (error: unknown) => void;
}

/** Keeps `size` browsers of one kind ready. Those that die while they wait are replaced. */
export function createWarmPool(deps: WarmPoolDeps): WarmPool {
  const waiting = new Set<Chromium>();
  const starting = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const refillIn = (milliseconds: number): void => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(refill, milliseconds);
    timer.unref();
  };
  const refill = (): void => {
    if (closed || waiting.size + starting.size >= deps.size) return;
    const start = deps.launch().then(
      (chromium) => {
        starting.delete(start);
        if (closed) return chromium.dispose();
        waiting.add(chromium);
        void chromium.exited.then(() => {
          if (!waiting.delete(chromium)) return;
          void chromium.dispose();
          refillIn(RETRY_DELAY_MS);
        });
        refillIn(0);
        return undefined;
      },
      (error: unknown) => {
        starting.delete(start);
        deps.onError(error);
        refillIn(RETRY_DELAY_MS);
      },
    );
    starting.add(start);
  };
  refill();

  return {
    take: (choices) => {
      for (const chromium of waiting) {
        if (!isSame(chromium.choices, choices)) continue;
        waiting.delete(chromium);
        refillIn(REFILL_DELAY_MS);
        return chromium;
      }
      return null;
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await Promise.all(starting);
      await Promise.all([...waiting].map((chromium) => chromium.dispose()));
    },
  };
}

function isSame(left: LaunchChoices, right: LaunchChoices): boolean {
  return left.headless === right.headless && left.stealth === right.stealth && left.kioskMode === right.kioskMode;
}
