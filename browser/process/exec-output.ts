import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';

/** How much of a stream is kept in memory, in bytes; the rest goes to a file. */
const MEMORY_BYTES = 256 * 1024;
/** How much of a stream is kept at all, in bytes; the rest is read and dropped, so that the command continues. */
const EXEC_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Largest backlog of writes to the disk, in bytes. */
const PENDING_BYTES = 4 * 1024 * 1024;
/** Divisible by three, so that the base64 of pieces can be concatenated. */
const PIECE_BYTES = 48 * 1024;

/** One output stream of a foreground command. */
export interface ExecOutput {
  /** Returns a promise to wait for if the disk is behind. */
  push(data: Buffer): Promise<void> | undefined;
  /** True if output was dropped. */
  isTruncated(): boolean;
  /** The kept output in base64, piece by piece. Only after the command has ended. */
  base64(): AsyncGenerator<string>;
  /** Deletes its file. */
  dispose(): Promise<void>;
}

/** Keeps the beginning of a stream in memory, and the rest in `file`, created on demand. */
export function createExecOutput(file: string, limitBytes = EXEC_OUTPUT_BYTES): ExecOutput {
  const first: Buffer[] = [];
  let inMemory = 0;
  let size = 0;
  let truncated = false;
  let handle: Promise<FileHandle> | null = null;
  let writing: Promise<void> = Promise.resolve();
  let pending = 0;

  const toFile = (data: Buffer): void => {
    handle ??= open(file, 'wx', 0o600);
    const target = handle;
    pending += data.length;
    writing = writing
      .then(async () => {
        await (await target).appendFile(data);
      })
      // A full disk truncates the output.
      .catch(() => {
        truncated = true;
      })
      .finally(() => {
        pending -= data.length;
      });
  };

  return {
    push: (data) => {
      const room = truncated ? 0 : limitBytes - size;
      const kept = data.subarray(0, Math.max(0, room));
      if (kept.length < data.length) truncated = true;
      size += kept.length;
      const head = kept.subarray(0, Math.max(0, MEMORY_BYTES - inMemory));
      if (head.length > 0) {
        // Copied: the chunk may be a small slice of a large buffer.
        first.push(Buffer.from(head));
        inMemory += head.length;
      }
      if (head.length < kept.length) toFile(kept.subarray(head.length));
      return pending > PENDING_BYTES ? writing : undefined;
    },
    isTruncated: () => truncated,
    base64: async function* () {
      await writing;
      let rest: Buffer = Buffer.alloc(0);
      for await (const data of pieces()) {
        const whole = Buffer.concat([rest, data]);
        const usable = whole.length - (whole.length % PIECE_BYTES);
        for (let start = 0; start < usable; start += PIECE_BYTES) {
          yield whole.toString('base64', start, start + PIECE_BYTES);
        }
        rest = whole.subarray(usable);
      }
      yield rest.toString('base64');
    },
    dispose: async () => {
      await writing;
      await (await handle?.catch(() => undefined))?.close();
      await rm(file, { force: true });
    },
  };

  async function* pieces(): AsyncGenerator<Buffer> {
    yield* first;
    if (handle === null) return;
    for await (const data of createReadStream(file)) yield Buffer.from(data as Uint8Array);
  }
}
