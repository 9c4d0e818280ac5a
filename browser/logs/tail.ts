import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as pause } from 'node:timers/promises';

/** How much is read at a time, in bytes: what a slow reader can hold in memory. */
const READ_BYTES = 64 * 1024;
/** Longest line that is handed out whole, in characters; a longer one comes in pieces. */
const MAX_LINE = 64 * 1024;
/** How often a log that is followed is looked at, in milliseconds. */
const POLL_MS = 150;

/** What is read and how. */
export interface Tail {
  /** Opens the file that has the name by now; null when there is none. */
  open: () => Promise<FileHandle | null>;
  /** False: only what is there already. */
  follow: boolean;
  signal: AbortSignal;
}

/**
 * The lines of a log from its beginning, read at the pace of whoever takes them. When it is followed, a file that takes the
 * name (rename and create) is read from its beginning after the old one's end, and so is one that was made shorter.
 * Reads `first`, which it closes.
 */
export async function* tailLines(first: FileHandle, { open, follow, signal }: Tail): AsyncGenerator<string[]> {
  let file = first;
  let position = 0;
  let lines = createLines();
  const buffer = Buffer.alloc(READ_BYTES);
  try {
    while (!signal.aborted) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, position);
      if (bytesRead > 0) {
        position += bytesRead;
        yield lines.take(buffer.subarray(0, bytesRead));
        continue;
      }
      if (!follow) break;
      const { size } = await file.stat();
      // Grown since it was read: not yet at its end.
      if (size > position) continue;
      const next = await successorOf(file, open);
      if (next !== null || size < position) {
        yield lines.rest();
        lines = createLines();
        position = 0;
      }
      if (next !== null) {
        await file.close();
        file = next;
      } else if (size === position) {
        await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    if (!signal.aborted) yield lines.rest();
  } finally {
    await file.close();
  }
}

/** The file that has the name now, when it is another one; while the old one is held open, its number is not reused. */
async function successorOf(file: FileHandle, open: Tail['open']): Promise<FileHandle | null> {
  const named = await open().catch(() => null);
  if (named === null) return null;
  const [before, now] = await Promise.all([file.stat(), named.stat()]);
  // Written to under its old name until now: its end comes first.
  if (before.ino !== now.ino || before.dev !== now.dev) return named;
  await named.close();
  return null;
}

/** Cuts bytes into lines; a character or a line that is not complete waits for its rest. */
function createLines(): { take(data: Buffer): string[]; rest(): string[] } {
  const decoder = new StringDecoder('utf8');
  let line = '';
  return {
    take: (data) => {
      line += decoder.write(data);
      const lines = line.split(/\r?\n/);
      line = lines.pop() ?? '';
      while (line.length > MAX_LINE) {
        lines.push(line.slice(0, MAX_LINE));
        line = line.slice(MAX_LINE);
      }
      return lines;
    },
    rest: () => {
      const last = line + decoder.end();
      line = '';
      return last === '' ? [] : [last];
    },
  };
}
