import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { createFolder, chownToOwner } from './change-tree.ts';
import { toFileError, withFileErrors } from './file-errors.ts';
import type { SessionFiles } from './session-files.ts';

/** Largest upload, in bytes. */
export const MAX_UPLOAD_BYTES = 8 * 1024 * 1024 * 1024;
/** Default permissions of a file. */
const FILE_MODE = 0o644;

/** A received file that is not in the session's tree yet. */
export interface ReceivedFile {
  /** Its path on this machine. */
  file: string;
  /** Moves it to a path in the session, atomically. Creates parent folders. */
  put(sessionPath: string, mode?: number): Promise<void>;
  /** Deletes it unless it was put. */
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
  const sink = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  try {
    // No await before this: content that fails while the file is being opened needs an error listener.
    await pipeline(content, limitBytes(maxBytes, 'The file exceeds the size limit of a session'), sink);
  } catch (error) {
    // A file that is still being opened would be created after it was removed.
    await finished(sink).catch(() => undefined);
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
      // Replaces a link that appeared meanwhile, without following it.
      await rename(file, place.in(name));
    });
  });
}

async function createParents(files: SessionFiles, sessionPath: string): Promise<void> {
  const folder = path.posix.dirname(sessionPath);
  const exists = await files
    .at(folder, ({ stats }) => Promise.resolve(stats !== null))
    .catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
      throw error;
    });
  if (!exists) await createFolder(files, folder);
}

/** Passes data through, and fails with `payload_too_large` beyond `maxBytes`. */
export function limitBytes(maxBytes: number, message: string): Transform {
  let bytes = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      if (bytes > maxBytes) done(new HoldfastError('payload_too_large', message));
      else done(null, piece);
    },
  });
}
