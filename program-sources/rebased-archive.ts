import { buffer } from 'node:stream/consumers';
import { fromBufferPromise, type Entry } from 'yauzl';
import { ZipFile } from 'yazl';
import { MAX_SOURCE_BYTES, type GithubSource } from '../contract/apps.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';

/** More than a repository's program has: files, and bytes, which are in memory while they are packed anew. */
const MAX_ENTRIES = 50_000;
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;

/**
 * The archive of a program out of that of a repository: without the folder that GitHub puts around it, and with what lies below
 * the source's path alone. Throws `invalid_input` naming the field, `payload_too_large`.
 */
export async function rebase(archive: Buffer, { path = '', entrypoint }: GithubSource): Promise<Buffer> {
  const source = await fromBufferPromise(archive, { lazyEntries: true, autoClose: false }).catch(noArchive);
  const made = new ZipFile();
  const below = path.split('/').filter((part) => part !== '' && part !== '.');
  const names = new Set<string>();
  let unpacked = 0;
  try {
    for await (const entry of source.eachEntry()) {
      const name = nameBelow(entry.fileName, below);
      if (name === null || name.endsWith('/')) continue;
      unpacked += entry.uncompressedSize;
      if (unpacked > MAX_UNPACKED_BYTES || names.size >= MAX_ENTRIES) throw tooLarge();
      names.add(name);
      const content = await source.openReadStreamPromise(entry).then(buffer).catch(noArchive);
      made.addBuffer(content, name, { mtime: entry.getLastModDate(), mode: modeOf(entry) });
    }
  } finally {
    source.close();
  }
  if (names.size === 0) throw invalidField('source.path', 'the repository has no such folder at this ref', 'not_found');
  const entry = entrypoint.split('/').filter((part) => part !== '.');
  if (!names.has(entry.join('/')))
    throw invalidField('source.entrypoint', 'no such file below source.path', 'not_found');
  made.end();
  // Its types do not say that it is a stream of Node.
  const rebased = await buffer(made.outputStream);
  if (rebased.length > MAX_SOURCE_BYTES) throw tooLarge();
  return rebased;
}

/** A name without the folder around the repository and those of the path; null for what lies elsewhere. */
function nameBelow(name: string, below: readonly string[]): string | null {
  const parts = name.split('/').slice(1);
  if (!below.every((part, index) => parts[index] === part)) return null;
  const rest = parts.slice(below.length);
  return rest.length === 0 ? null : rest.join('/');
}

/** Kind and rights of a file, links too: those are refused where the archive is unpacked. */
function modeOf({ externalFileAttributes }: Entry): number {
  const mode = externalFileAttributes >>> 16;
  return mode === 0 ? 0o100644 : mode;
}

function noArchive(): never {
  throw new HoldfastError('unavailable', 'GitHub answered what is no archive; try again later');
}

function tooLarge(): HoldfastError {
  return new HoldfastError('payload_too_large', 'source: the repository exceeds the size limit of a program');
}
