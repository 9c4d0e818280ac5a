import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MAX_SOURCE_BYTES } from '../../contract/apps.ts';
import { limitBytes } from '../files/write-file.ts';

/** How long an archive waits for its build, which is the next request; in milliseconds. */
const RETENTION_MS = 10 * 60_000;
const TOO_LARGE = 'file: exceeds the size limit of a program';

/**
 * Unencrypted archives waiting for their build. Each upload is a separate file, taken by one build, so that workers that build the
 * same program concurrently do not interfere.
 */
interface ReceivedArchives {
  /** Throws `payload_too_large`. */
  receive(id: string, content: Readable): Promise<void>;
  has(id: string): boolean;
  /** Takes the file of one archive, which the caller deletes; null if there is none. */
  take(id: string): string | null;
}

/** Keeps archives as files in a folder, after {@link removeStaleArchives}. */
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
        await pipeline(content, limitBytes(MAX_SOURCE_BYTES, TOO_LARGE), createWriteStream(file, { mode: 0o600 }));
      } catch (error) {
        await rm(file, { force: true });
        throw error;
      }
      waiting.set(id, [...(waiting.get(id) ?? []), file]);
      const expire = async (): Promise<void> => {
        if (take(id, file) !== null) await rm(file, { force: true });
      };
      setTimeout(() => void expire().catch(() => undefined), RETENTION_MS).unref();
    },
    has: (id) => waiting.has(id),
    take,
  };
}

/** Deletes the archives and incomplete builds that a killed service left behind; their builds upload them again. */
export async function removeStaleArchives(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  const stale = names.filter((name) => name.includes('.'));
  await Promise.all(stale.map((name) => rm(path.join(folder, name), { recursive: true, force: true })));
}
