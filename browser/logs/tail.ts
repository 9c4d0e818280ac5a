import type { FileHandle } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes read at a time: the memory a slow reader can occupy. */
const READ_BYTES = 64 * 1024;
/** Longest line to return whole, in characters; longer ones are split. */
const MAX_LINE = 64 * 1024;
/** How often a followed log is polled, in milliseconds. */
const POLL_INTERVAL_MS = 150;

interface TailOptions {
  /** Opens the file at the log's path; null if there is none. */
  open: () => Promise<FileHandle | null>;
  /** Whether to wait for more lines at the end. */
  follow: boolean;
  signal: AbortSignal;
}

/**
 * Yields the lines of a log from the start, at the consumer's pace. When following, a rotated or truncated log is read
 * again from the start, after the rest of the old file. Closes `first`.
 */
export async function* tailLines(first: FileHandle, { open, follow, signal }: TailOptions): AsyncGenerator<string[]> {
  let file = first;
  let position = 0;
  let lines = createLineSplitter();
  const buffer = Buffer.alloc(READ_BYTES);
  try {
    while (!signal.aborted) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, position);
      if (bytesRead > 0) {
        position += bytesRead;
        yield lines.push(buffer.subarray(0, bytesRead));
        continue;
      }
      if (!follow) break;
      const { size } = await file.stat();
      // It has grown since the read.
      if (size > position) continue;
      const next = await openSuccessor(file, open);
      if (next !== null || size < position) {
        yield lines.flush();
        lines = createLineSplitter();
        position = 0;
      }
      if (next !== null) {
        await file.close();
        file = next;
      } else if (size === position) {
        await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    if (!signal.aborted) yield lines.flush();
  } finally {
    await file.close();
  }
}

/** Opens the file now at the path, if it is another one; the old one's inode is not reused while it is open. */
async function openSuccessor(file: FileHandle, open: TailOptions['open']): Promise<FileHandle | null> {
  const current = await open().catch(() => null);
  if (current === null) return null;
  const [before, now] = await Promise.all([file.stat(), current.stat()]);
  if (before.ino !== now.ino || before.dev !== now.dev) return current;
  await current.close();
  return null;
}

/** Splits bytes into lines, buffering incomplete characters and lines. */
function createLineSplitter(): { push(data: Buffer): string[]; flush(): string[] } {
  const decoder = new StringDecoder('utf8');
  let line = '';
  return {
    push: (data) => {
      line += decoder.write(data);
      const lines = line.split(/\r?\n/);
      line = lines.pop() ?? '';
      while (line.length > MAX_LINE) {
        lines.push(line.slice(0, MAX_LINE));
        line = line.slice(MAX_LINE);
      }
      return lines;
    },
    flush: () => {
      const last = line + decoder.end();
      line = '';
      return last === '' ? [] : [last];
    },
  };
}
