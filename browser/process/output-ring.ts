/** Which of its streams a process wrote to. A terminal has one for both: `stdout`. */
export type OutputStream = 'stdout' | 'stderr';

/** One piece of output. */
interface OutputPiece {
  stream: OutputStream;
  data: Buffer;
}

/** The latest output of a process, bounded: the oldest goes when there is no room. A process never waits for a reader. */
export interface OutputRing {
  push(stream: OutputStream, data: Buffer): void;
  /** No more output comes. */
  end(): void;
  /**
   * What is kept and what comes, to the end or until the signal. A reader who falls behind loses the oldest; `onLost`
   * says how many bytes. A reader costs nothing but its place.
   */
  read(signal: AbortSignal, onLost: (bytes: number) => void): AsyncGenerator<OutputPiece>;
  /** Forgets what is kept. */
  clear(): void;
}

/** What a piece costs beside its bytes: a process that writes byte by byte must not keep a million pieces. */
const PIECE_COST = 128;

/** Keeps up to `limitBytes`. */
export function createOutputRing(limitBytes: number): OutputRing {
  /** `at`: how many bytes were written before this piece, ever. */
  let pieces: (OutputPiece & { at: number })[] = [];
  let cost = 0;
  let written = 0;
  let dropped = 0;
  let ended = false;
  const sleepers = new Set<() => void>();

  const wakeAll = (): void => {
    for (const wake of sleepers) wake();
    sleepers.clear();
  };
  const dropTo = (limit: number): void => {
    let count = 0;
    for (const { data } of pieces) {
      if (cost <= limit) break;
      cost -= data.length + PIECE_COST;
      count += 1;
    }
    dropped += count;
    if (count > 0) pieces = pieces.slice(count);
  };
  const changed = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        sleepers.delete(wake);
        resolve();
      };
      sleepers.add(wake);
      signal.addEventListener('abort', wake);
    });

  return {
    push: (stream, data) => {
      // One piece never fills the ring: what is dropped for it is never all of it.
      const largest = Math.max(1, Math.floor(limitBytes / 4));
      for (let start = 0; start < data.length; start += largest) {
        const piece = data.subarray(start, start + largest);
        pieces.push({ stream, data: piece, at: written });
        written += piece.length;
        cost += piece.length + PIECE_COST;
      }
      dropTo(limitBytes);
      wakeAll();
    },
    end: () => {
      ended = true;
      wakeAll();
    },
    clear: () => {
      dropTo(0);
    },
    read: async function* (signal, onLost) {
      let nextPiece = 0;
      let position = 0;
      while (!signal.aborted) {
        nextPiece = Math.max(nextPiece, dropped);
        const piece = pieces[nextPiece - dropped];
        const reached = piece?.at ?? (nextPiece === dropped + pieces.length ? written : position);
        if (reached > position) onLost(reached - position);
        position = reached;
        if (piece !== undefined) {
          nextPiece += 1;
          position += piece.data.length;
          yield { stream: piece.stream, data: piece.data };
        } else if (ended) return;
        else await changed(signal);
      }
    },
  };
}
