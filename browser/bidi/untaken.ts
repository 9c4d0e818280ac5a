/** When a thread has this much before it, in bytes, nothing more is read for it until half of it is taken. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;

/** What a thread has been sent and has not taken yet: it waits outside of any heap, and no limit of the thread holds it. */
export interface Backpressure {
  /** Notes a message to the thread. */
  sent(bytes: number): void;
  /** Notes that the thread has taken so many bytes of them. */
  taken(bytes: number): void;
}

/** `onBehind` is called with true when too much waits, and with false when what fills it can be read again. */
export function trackBackpressure(onBehind: (behind: boolean) => void): Backpressure {
  let waiting = 0;
  let behind = false;
  const turn = (to: boolean): void => {
    if (behind === to) return;
    behind = to;
    onBehind(to);
  };
  return {
    sent: (bytes) => {
      waiting += bytes;
      if (waiting > HIGH_WATER_BYTES) turn(true);
    },
    taken: (bytes) => {
      waiting -= bytes;
      if (waiting < HIGH_WATER_BYTES / 2) turn(false);
    },
  };
}
