/** The stream a process wrote to; with a terminal, always `stdout`. */
export type OutputStream = 'stdout' | 'stderr';

interface OutputPiece {
  stream: OutputStream;
  data: Buffer;
}

/** Ring buffer of a process's latest output. The oldest is dropped when full; a process never waits for a reader. */
export interface OutputRing {
  push(stream: OutputStream, data: Buffer): void;
  /** Marks the end of the output. */
  end(): void;
  /**
   * Yields the buffered and further output until its end or the signal. A reader that falls behind misses the oldest; `onLost`
   * receives the number of bytes.
   */
  read(signal: AbortSignal, onLost: (bytes: number) => void): AsyncGenerator<OutputPiece>;
  /** Drops the buffered output. */
  clear(): void;
}

/** Overhead of a piece, in bytes: a process that writes byte by byte must not keep a million pieces. */
const PIECE_COST = 128;

/** Creates a buffer of `limitBytes`. */
export function createOutputRing(limitBytes: number): OutputRing {
  /** `at`: offset of the piece in the whole output. */
  let pieces: (OutputPiece & { at: number })[] = [];
  let cost = 0;
  let written = 0;
  let dropped = 0;
  let ended = false;
  const waitingReaders = new Set<() => void>();

  const notifyReaders = (): void => {
    for (const wake of waitingReaders) wake();
    waitingReaders.clear();
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
  const nextChange = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        waitingReaders.delete(wake);
        resolve();
      };
      waitingReaders.add(wake);
      signal.addEventListener('abort', wake);
    });

  return {
    push: (stream, data) => {
      // Split, so that one piece never evicts everything else.
      const largest = Math.max(1, Math.floor(limitBytes / 4));
      for (let start = 0; start < data.length; start += largest) {
        const piece = data.subarray(start, start + largest);
        pieces.push({ stream, data: piece, at: written });
        written += piece.length;
        cost += piece.length + PIECE_COST;
      }
      dropTo(limitBytes);
      notifyReaders();
    },
    end: () => {
      ended = true;
      notifyReaders();
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
        else await nextChange(signal);
      }
    },
  };
}
