import { buffer } from 'node:stream/consumers';
import { fromBufferPromise, type Entry } from 'yauzl';
import { ZipFile } from 'yazl';
import { MAX_SOURCE_BYTES, type GithubSource } from '../contract/apps.ts';
import { HoldfastError, invalidField } from '../contract/errors.ts';

/** Limits of a repository; its files are in memory while they are repacked. */
const MAX_ENTRIES = 50_000;
const MAX_UNPACKED_BYTES = 128 * 1024 * 1024;

/**
 * Converts a repository archive to a program archive: without GitHub's top folder, and only with files below the source's path.
 * Throws `invalid_input` naming the field, or `payload_too_large`.
 */
export async function rebase(archive: Buffer, { path = '', entrypoint }: GithubSource): Promise<Buffer> {
  const source = await fromBufferPromise(archive, { lazyEntries: true, autoClose: false }).catch(invalidArchive);
  const rebased = new ZipFile();
  const below = path.split('/').filter((part) => part !== '' && part !== '.');
  const names = new Set<string>();
  let unpacked = 0;
  try {
    for await (const entry of source.eachEntry()) {
      const name = relativeName(entry.fileName, below);
      if (name === null || name.endsWith('/')) continue;
      unpacked += entry.uncompressedSize;
      if (unpacked > MAX_UNPACKED_BYTES || names.size >= MAX_ENTRIES) throw tooLarge();
      names.add(name);
      const content = await source.openReadStreamPromise(entry).then(buffer).catch(invalidArchive);
      rebased.addBuffer(content, name, { mtime: entry.getLastModDate(), mode: fileMode(entry) });
    }
  } finally {
    source.close();
  }
  if (names.size === 0) throw invalidField('source.path', 'the repository has no such folder at this ref', 'not_found');
  const entry = entrypoint.split('/').filter((part) => part !== '.');
  if (!names.has(entry.join('/')))
    throw invalidField('source.entrypoint', 'no such file below source.path', 'not_found');
  rebased.end();
  const packed = await buffer(rebased.outputStream);
  if (packed.length > MAX_SOURCE_BYTES) throw tooLarge();
  return packed;
}

/** A name relative to the source's path, or null if it is elsewhere. */
function relativeName(name: string, below: readonly string[]): string | null {
  const parts = name.split('/').slice(1);
  if (!below.every((part, index) => parts[index] === part)) return null;
  const rest = parts.slice(below.length);
  return rest.length === 0 ? null : rest.join('/');
}

/** Type and permissions of a file. Links are kept, since unpacking refuses them. */
function fileMode({ externalFileAttributes }: Entry): number {
  const mode = externalFileAttributes >>> 16;
  return mode === 0 ? 0o100644 : mode;
}

function invalidArchive(): never {
  throw new HoldfastError('unavailable', 'GitHub returned an invalid archive; try again later');
}

function tooLarge(): HoldfastError {
  return new HoldfastError('payload_too_large', 'source: the repository exceeds the size limit of a program');
}
