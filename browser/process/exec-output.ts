import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';

/** How much of a stream is kept in memory, in bytes; what is more goes to a file. */
const MEMORY_BYTES = 256 * 1024;
/** How much of a stream is kept at all, in bytes; what is more is read and dropped, so that the command goes on. */
const EXEC_OUTPUT_BYTES = 64 * 1024 * 1024;
/** How much may wait for the disk, in bytes. */
const PENDING_BYTES = 4 * 1024 * 1024;
/** Divisible by three: base64 of pieces of this size can be joined. */
const PIECE_BYTES = 48 * 1024;

/** One output stream of a command that is waited for. */
export interface ExecOutput {
  /** A promise asks to wait with more: the disk is behind. */
  push(data: Buffer): Promise<void> | undefined;
  /** True when more came than is kept. */
  cut(): boolean;
  /** All that is kept, in base64, piece by piece. Call it after the command has ended. */
  base64(): AsyncGenerator<string>;
  /** Removes its file. */
  dispose(): Promise<void>;
}

/** Keeps a stream: its beginning in memory, the rest in `file`, which is made when it is needed. */
export function createExecOutput(file: string, limitBytes = EXEC_OUTPUT_BYTES): ExecOutput {
  const first: Buffer[] = [];
  let inMemory = 0;
  let size = 0;
  let isCut = false;
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
      // A full disk: what could not be kept is cut.
      .catch(() => {
        isCut = true;
      })
      .finally(() => {
        pending -= data.length;
      });
  };

  return {
    push: (data) => {
      const room = isCut ? 0 : limitBytes - size;
      const kept = data.subarray(0, Math.max(0, room));
      if (kept.length < data.length) isCut = true;
      size += kept.length;
      const head = kept.subarray(0, Math.max(0, MEMORY_BYTES - inMemory));
      if (head.length > 0) {
        // A copy: the piece may be a small part of a large buffer.
        first.push(Buffer.from(head));
        inMemory += head.length;
      }
      if (head.length < kept.length) toFile(kept.subarray(head.length));
      return pending > PENDING_BYTES ? writing : undefined;
    },
    cut: () => isCut,
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
