import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_SOURCE_BYTES } from '../../contract/apps.ts';
import { HoldfastError } from '../../contract/errors.ts';

/** How long an archive waits for the build that it was sent for, in milliseconds: the request after it. */
const WAITS_MS = 10 * 60_000;

/**
 * Archives that wait for their build, unsealed. Each sending is a file of its own, and each build takes one of them: of two
 * workers that build the same program at once, neither changes nor removes what the other has sent.
 */
interface ReceivedArchives {
  /** Throws `payload_too_large`. */
  receive(id: string, content: Readable): Promise<void>;
  has(id: string): boolean;
  /** The file of one archive of the program, which is the caller's to remove; null when none waits. */
  take(id: string): string | null;
}

/** Keeps them as files in a folder that {@link removeStaleArchives} has seen. */
export function createReceivedArchives(folder: string): ReceivedArchives {
  const waiting = new Map<string, string[]>();
  const take = (id: string, wanted?: string): string | null => {
    const files = waiting.get(id) ?? [];
    const file = wanted ?? files[0];
    if (file === undefined || !files.includes(file)) return null;
    const left = files.filter((other) => other !== file);
    if (left.length === 0) waiting.delete(id);
    else waiting.set(id, left);
    return file;
  };
  return {
    receive: async (id, content) => {
      const file = path.join(folder, `${id}.${randomUUID()}.zip`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await pipeline(content, atMostSource, createWriteStream(file, { mode: 0o600 }));
      } catch (error) {
        await rm(file, { force: true });
        throw error;
      }
      waiting.set(id, [...(waiting.get(id) ?? []), file]);
      const forget = async (): Promise<void> => {
        if (take(id, file) !== null) await rm(file, { force: true });
      };
      setTimeout(() => void forget().catch(() => undefined), WAITS_MS).unref();
    },
    has: (id) => waiting.has(id),
    take,
  };
}

/**
 * Removes what a service that was killed has left in the folder of programs: archives, whole or cut off, and programs that had
 * not got their place. Their builds send them again. Built programs stay.
 */
export async function removeStaleArchives(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const unbuilt = names.filter((name) => name.includes('.'));
  await Promise.all(unbuilt.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
}

async function* atMostSource(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > MAX_SOURCE_BYTES)
      throw new HoldfastError('payload_too_large', 'file: exceeds the size limit of a program');
    yield piece;
  }
}
