import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { createFolder, chownToOwner } from './change-tree.ts';
import { toFileError, withFileErrors } from './file-errors.ts';
import type { SessionFiles } from './session-files.ts';

/** Largest upload, in bytes. */
export const MAX_UPLOAD_BYTES = 8 * 1024 * 1024 * 1024;
/** Permissions of a file for which none are given. */
const FILE_MODE = 0o644;

/** A file that was received and has no place in the session yet. */
export interface ReceivedFile {
  /** Where it lies on this machine. */
  file: string;
  /** Gives it its place in the session, in one step: nobody sees half of it. Folders on the way are made. */
  put(sessionPath: string, mode?: number): Promise<void>;
  /** Removes it, when it has no place by then. */
  discard(): Promise<void>;
}

/** Receives a file into the session's private folder. Throws `payload_too_large`, `operation_failed` on a full disk. */
export async function receiveFile(
  files: SessionFiles,
  content: Readable,
  maxBytes = MAX_UPLOAD_BYTES,
): Promise<ReceivedFile> {
  const file = path.join(files.workFolder, `${randomUUID()}.upload`);
  const discard = (): Promise<void> => rm(file, { force: true });
  try {
    // Nothing is awaited before: content that fails while its file is still being opened must find somebody who listens.
    await pipeline(content, atMost(maxBytes), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    await discard();
    throw toFileError(error);
  }
  return { file, discard, put: (sessionPath, mode) => put(files, file, sessionPath, mode ?? FILE_MODE) };
}

function put(files: SessionFiles, file: string, sessionPath: string, mode: number): Promise<void> {
  return withFileErrors(async () => {
    await createParents(files, sessionPath);
    await files.at(sessionPath, async (place) => {
      const { name, stats } = place;
      if (name === null || stats?.isDirectory() === true) {
        throw new HoldfastError('invalid_request', 'path: is a directory');
      }
      await chmod(file, mode);
      await chownToOwner(files, file);
      // Names are not followed by it: a link that takes the place meanwhile is replaced.
      await rename(file, place.in(name));
    });
  });
}

async function createParents(files: SessionFiles, sessionPath: string): Promise<void> {
  const folder = path.posix.dirname(sessionPath);
  const isThere = await files
    .at(folder, ({ stats }) => Promise.resolve(stats !== null))
    .catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    });
  if (!isThere) await createFolder(files, folder);
}

function atMost(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      if (bytes > maxBytes)
        done(new HoldfastError('payload_too_large', 'The file exceeds the size limit of a session'));
      else done(null, piece);
    },
  });
}
