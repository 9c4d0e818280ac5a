import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import type { SessionFiles } from '../../browser/files/session-files.ts';
import { createSessionFiles } from '../../browser/files/session-files.ts';
import { unzipInto } from '../../browser/files/unzip.ts';
import { receiveFile } from '../../browser/files/write-file.ts';
import { SYSTEM_FOLDERS } from '../../browser/process/isolation.ts';
import { createSessionFolder, sessionFolderOf } from '../../browser/process/session-folder.ts';
import { containing } from './service-under-test.ts';

/** Signatures of an archive's records, and where the fields lie that are damaged here, in bytes. */
const [LOCAL_RECORD, CENTRAL_RECORD] = [Buffer.from('PK\x03\x04'), Buffer.from('PK\x01\x02')];
const CENTRAL = { crc: 16, packedSize: 20, size: 24 };

let base: string;
let root: string;
let work: string;
let files: SessionFiles;
beforeEach(async () => {
  base = await mkdtemp(path.join(os.tmpdir(), 'holdfast-unzip-'));
  const folder = sessionFolderOf(base);
  await createSessionFolder(folder, null);
  ({ root, work } = folder);
  const folders = { root, workFolder: work, logsFolder: folder.logs };
  files = createSessionFiles({ ...folders, systemFolders: SYSTEM_FOLDERS, owner: null });
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

/** An archive of these files; names that end with a slash are folders. */
async function archiveOf(content: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, data] of Object.entries(content)) {
    if (name.endsWith('/')) zip.addEmptyDirectory(name);
    else zip.addBuffer(Buffer.from(data), name);
  }
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces);
}

async function unzip(archive: Buffer, place: string): Promise<void> {
  const received = await receiveFile(files, Readable.from([archive]));
  try {
    await unzipInto(files, received, place);
  } finally {
    await received.discard();
  }
}

/** All that the session holds: path and content. */
async function everything(): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found: Record<string, string> = {};
  for (const entry of entries) {
    const place = path.join(entry.parentPath, entry.name);
    found[path.relative(root, place)] = entry.isFile() ? await readFile(place, 'utf8') : '/';
  }
  return found;
}

/** Changes a number in the central directory, of the last entry or of all. */
function damaged(archive: Buffer, field: keyof typeof CENTRAL, value: number, all = false): Buffer {
  const copy = Buffer.from(archive);
  let at = copy.lastIndexOf(CENTRAL_RECORD);
  while (at >= 0) {
    copy.writeUInt32LE(value, at + CENTRAL[field]);
    at = all && at > 0 ? copy.lastIndexOf(CENTRAL_RECORD, at - 1) : -1;
  }
  return copy;
}

it('rejects an upload that fails before its file is open, and leaves nothing behind', async () => {
  const content = new Readable({ read: () => undefined });
  const received = receiveFile(files, content);
  content.destroy(new Error('The sender is gone'));
  await expect(received).rejects.toThrow();
  expect(await readdir(work)).toEqual([]);
});

describe('upload_zip', () => {
  it('adds to existing files and replaces them', async () => {
    await mkdir(path.join(root, 'tmp/d/a'), { recursive: true });
    await writeFile(path.join(root, 'tmp/d/a/old'), 'old');
    await writeFile(path.join(root, 'tmp/d/a/kept'), 'kept');
    await unzip(await archiveOf({ 'a/old': 'new', 'b/c/': '', 'b/d/e': 'deep', 'b/d/e2': '' }), '/tmp/d');
    expect(await everything()).toMatchObject({
      ...{ 'tmp/d/a/old': 'new', 'tmp/d/a/kept': 'kept', 'tmp/d/b/c': '/', 'tmp/d/b/d/e': 'deep', 'tmp/d/b/d/e2': '' },
    });
    expect(await readdir(work)).toEqual([]);
  });

  const good = archiveOf({ first: 'first', 'folder/': '', 'folder/second': 'second', last: 'x'.repeat(10_000) });
  const overwritten = async (): Promise<Buffer> => {
    const archive = Buffer.from(await good);
    // In the data of the last entry, which 34 bytes of header and name come before.
    const data = archive.lastIndexOf(LOCAL_RECORD) + 34;
    return archive.fill(0, data, data + 10);
  };
  it.each([
    ['a wrong checksum at the last entry', async () => damaged(await good, 'crc', 0x12345678), 'invalid_request'],
    ['an end that is missing', async () => (await good).subarray(0, -30), 'invalid_request'],
    ['data that was overwritten', overwritten, 'invalid_request'],
    ['a last entry that unpacks to more than it says', async () => damaged(await good, 'size', 10), 'invalid_request'],
    [
      'a last entry that unpacks to less than it says',
      async () => damaged(await good, 'size', 20_000),
      'invalid_request',
    ],
    [
      'entries that say 12 GB',
      async () => damaged(await archiveOf({ a: 'a', b: 'b', c: 'c' }), 'size', 0xfffffffe, true),
      'payload_too_large',
    ],
    ['a file and a folder of one name', () => archiveOf({ first: '', 'a/b': '', a: '' }), 'invalid_request'],
    ['a name that is too long', () => archiveOf({ first: '', ['ü'.repeat(150)]: '' }), 'invalid_request'],
    ['a name that is too deep', () => archiveOf({ first: '', [`${'d/'.repeat(200)}x`]: '' }), 'invalid_request'],
  ])('changes nothing for %s', async (_, archive, code) => {
    await mkdir(path.join(root, 'tmp/there'));
    await writeFile(path.join(root, 'tmp/there/first'), 'of the session');
    const before = await everything();
    for (const place of ['/tmp/new/folder', '/tmp/there']) {
      await expect(unzip(await archive(), place)).rejects.toMatchObject({ code });
      expect(await everything()).toEqual(before);
      expect(await readdir(work)).toEqual([]);
    }
  });

  it('changes nothing if the last file cannot be placed', async () => {
    await mkdir(path.join(root, 'tmp/d/last'), { recursive: true });
    await writeFile(path.join(root, 'tmp/d/file'), 'x');
    const before = await everything();
    for (const [last, place, code] of [
      ['last', '/tmp/d', 'invalid_request'],
      ['file/last', '/tmp/d', 'invalid_request'],
      ['file/last/', '/tmp/d', 'invalid_request'],
      ['last', '/tmp/d/file', 'invalid_request'],
      ['etc/last', '/', 'forbidden'],
    ] as const) {
      const archive = await archiveOf({ 'new/first': 'first', [last]: '' });
      await expect(unzip(archive, place)).rejects.toMatchObject({
        code,
        message: containing('dest_path: '),
      });
      expect(await everything()).toEqual(before);
    }
    expect(await readdir(work)).toEqual([]);
  });

  it('changes nothing if a folder is not writable, which does not stop root', async () => {
    await mkdir(path.join(root, 'tmp/d/closed'), { recursive: true });
    await chmod(path.join(root, 'tmp/d/closed'), 0o555);
    const before = await everything();
    const unpacking = unzip(await archiveOf({ first: 'first', 'closed/last': 'last' }), '/tmp/d');
    if (process.getuid?.() === 0) {
      await unpacking;
      expect(await everything()).toEqual({ ...before, 'tmp/d/first': 'first', 'tmp/d/closed/last': 'last' });
    } else {
      await expect(unpacking).rejects.toMatchObject({ code: 'forbidden' });
      expect(await everything()).toEqual(before);
    }
  });
});
