import type { LaunchChoices } from './flags.ts';
import type { Chromium } from './launch.ts';

/**
 * Delay before a taken browser is replaced, in milliseconds: the new session gets the CPU first. A login takes a second one within a
 * second, for the proof that what it has saved is logged in.
 */
const REFILL_DELAY_MS = 250;
/** Delay after a failed start, in milliseconds. */
const RETRY_DELAY_MS = 5_000;

/** Prewarmed browsers. */
export interface WarmPool {
  /**
   * Takes a browser launched with these choices, which then belongs to the caller; it may still be starting. Null if there
   * is none, or its start failed.
   */
  take(choices: LaunchChoices): Promise<Chromium | null>;
  close(): Promise<void>;
}

interface WarmPoolDeps {
  size: number;
  choices: LaunchChoices;
  launch: () => Promise<Chromium>;
  onError: (error: unknown) => void;
}

/** An idle or starting browser; `null` if its start failed. */
type Slot = Promise<Chromium | null>;

/** Keeps `size` browsers with the same choices ready, replacing those that exit while idle. */
export function createWarmPool(deps: WarmPoolDeps): WarmPool {
  const slots = new Set<Slot>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const refillIn = (milliseconds: number): void => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(refill, milliseconds);
    timer.unref();
  };
  const refill = (): void => {
    if (closed || slots.size >= deps.size) return;
    const slot: Slot = deps.launch().then(
      (chromium) => {
        void chromium.exited.then(() => {
          if (!slots.delete(slot)) return;
          void chromium.dispose();
          refillIn(RETRY_DELAY_MS);
        });
        refillIn(0);
        return chromium;
      },
      (error: unknown) => {
        deps.onError(error);
        if (slots.delete(slot)) refillIn(RETRY_DELAY_MS);
        return null;
      },
    );
    slots.add(slot);
  };
  refill();

  return {
    take: async (choices) => {
      const [slot] = slots;
      if (slot === undefined || !isSame(deps.choices, choices)) return null;
      slots.delete(slot);
      refillIn(REFILL_DELAY_MS);
      return slot;
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      const remaining = [...slots];
      slots.clear();
      await Promise.all(remaining.map(async (slot) => (await slot)?.dispose()));
    },
  };
}

function isSame(left: LaunchChoices, right: LaunchChoices): boolean {
  // Policies apply from launch, so browsers with policies are never prewarmed.
  if (left.policy !== null || right.policy !== null) return false;
  return left.headless === right.headless && left.stealth === right.stealth && left.kioskMode === right.kioskMode;
}
