import { execFileSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listFolder } from '../../browser/files/read.ts';
import type { SessionFiles } from '../../browser/files/session-files.ts';
import { createSessionFiles } from '../../browser/files/session-files.ts';
import { zipFolder } from '../../browser/files/zip-folder.ts';
import { SYSTEM_FOLDERS } from '../../browser/process/isolation.ts';
import { createSessionFolder, sessionFolderOf } from '../../browser/process/session-folder.ts';
import { heldMemory } from './held-memory.ts';

let base: string;
let root: string;
let files: SessionFiles;
beforeEach(async () => {
  base = await mkdtemp(path.join(os.tmpdir(), 'holdfast-files-'));
  const folder = sessionFolderOf(path.join(base, 'session'));
  await createSessionFolder(folder, null);
  root = folder.root;
  files = createSessionFiles({
    root,
    workFolder: folder.work,
    logsFolder: folder.logs,
    systemFolders: SYSTEM_FOLDERS,
    owner: null,
  });
  await writeFile(path.join(base, 'outside.txt'), 'a secret of the host');
});
afterEach(async () => {
  await rm(base, { recursive: true, force: true });
});

const names = async (place: string): Promise<string[]> => (await listFolder(files, place)).map(({ name }) => name);
const read = (place: string): Promise<string> => files.at(place, (found) => readFile(found.self(), 'utf8'));

/** The archive of a folder, unpacked: path and content. */
async function unzipped(place: string): Promise<Record<string, string>> {
  const file = path.join(base, 'archive.zip');
  await pipeline(await zipFolder(files, place), createWriteStream(file));
  const list = execFileSync('unzip', ['-Z1', file], { encoding: 'utf8' }).split('\n').filter(Boolean);
  return Object.fromEntries(
    list.map((name) => [
      name,
      name.endsWith('/')
        ? ''
        : execFileSync('unzip', ['-p', file, name.replace(/[[*?]/g, '\\$&')], { encoding: 'utf8' }),
    ]),
  );
}

/** How many files this process holds open. */
async function openFiles(): Promise<number> {
  const { readdir } = await import('node:fs/promises');
  return (await readdir('/proc/self/fd')).length;
}

describe('a path of a session', () => {
  it('stays in the session, whatever dots it has', async () => {
    await writeFile(path.join(root, 'tmp/a'), 'mine');
    for (const place of [
      '/tmp/a',
      '//tmp/./a',
      '/../../tmp/a',
      '/tmp/../../../tmp/../tmp/a',
      '/home/user/../../tmp/a',
    ]) {
      expect(await read(place)).toBe('mine');
    }
    expect(await names('/../..')).toEqual(['home', 'root', 'tmp', 'var']);
    const up = `${'/..'.repeat(20)}${base}/outside.txt`;
    await expect(read(up)).rejects.toMatchObject({ code: expect.stringMatching(/ENOENT|not_found/) as unknown });
  });

  it('follows links within the session’s root only, including absolute ones', async () => {
    await writeFile(path.join(root, 'tmp/a'), 'mine');
    await mkdir(path.join(root, 'data'));
    await symlink('/tmp/a', path.join(root, 'data/absolute'));
    await symlink('../tmp/a', path.join(root, 'data/relative'));
    await symlink('/etc/passwd', path.join(root, 'tmp/passwd'));
    await symlink('/etc', path.join(root, 'tmp/etc'));
    await symlink(`${'../'.repeat(20)}etc/passwd`, path.join(root, 'tmp/up'));
    await symlink(path.join(base, 'outside.txt'), path.join(root, 'tmp/host'));
    await symlink('/proc/self/root/etc/passwd', path.join(root, 'tmp/magic'));
    await symlink('loop', path.join(root, 'tmp/loop'));
    expect(await read('/data/absolute')).toBe('mine');
    expect(await read('/data/relative')).toBe('mine');
    for (const name of ['passwd', 'etc/passwd', 'up', 'magic']) {
      await expect(read(`/tmp/${name}`)).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(listFolder(files, '/tmp/etc')).rejects.toMatchObject({ code: 'forbidden' });
    await expect(listFolder(files, '/tmp/host')).rejects.toMatchObject({ code: 'not_found' });
    await expect(listFolder(files, '/tmp/loop')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(listFolder(files, '/usr/bin')).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('never leaves the session while a folder is swapped with a link', async () => {
    await mkdir(path.join(root, 'tmp/real'));
    await writeFile(path.join(root, 'tmp/real/outside.txt'), 'mine');
    await symlink(base, path.join(root, 'tmp/trap'));
    const swapping = { on: true };
    const swap = (async () => {
      const [real, trap, spare] = ['real', 'trap', 'spare'].map((name) => path.join(root, 'tmp', name));
      while (swapping.on) {
        await rename(real ?? '', spare ?? '');
        await rename(trap ?? '', real ?? '');
        await rename(real ?? '', trap ?? '');
        await rename(spare ?? '', real ?? '');
      }
    })();
    const seen = new Set<string>();
    for (let round = 0; round < 400; round++) {
      await read('/tmp/real/outside.txt').then(
        (text) => seen.add(text),
        () => undefined,
      );
      const entries = await listFolder(files, '/tmp/real').catch(() => []);
      for (const { name } of entries) seen.add(name);
    }
    swapping.on = false;
    await swap;
    expect([...seen].sort()).toEqual(['mine', 'outside.txt']);
  });

  it('leaves no file open', async () => {
    await symlink('/tmp/none', path.join(root, 'tmp/dangling'));
    const before = await openFiles();
    for (let round = 0; round < 20; round++) {
      await listFolder(files, '/tmp/../var/./log');
      for (const place of ['/tmp/dangling', '/none/none', '/etc', '/tmp/dangling/x']) {
        await expect(listFolder(files, place)).rejects.toThrow();
      }
    }
    expect(await openFiles()).toBe(before);
  });
});

describe('list_files', () => {
  it('describes each entry like ls', async () => {
    const odd = ['ä∕ö⁄.txt', 'a b\nc', "it's", '..hidden', '*', '-rf', '日本'];
    for (const name of odd) await writeFile(path.join(root, 'tmp', name), 'x', { mode: 0o640 });
    await mkdir(path.join(root, 'tmp/folder'), { mode: 0o750 });
    await symlink('/nowhere', path.join(root, 'tmp/link'));
    execFileSync('mkfifo', [path.join(root, 'tmp/pipe')]);
    const entries = await listFolder(files, '/tmp');
    expect(entries.map(({ name }) => name).sort()).toEqual([...odd, 'folder', 'link', 'pipe'].sort());
    const folder = { name: 'folder', path: '/tmp/folder', is_dir: true, size_bytes: 0, mode: 'drwxr-x---' };
    expect(entries.find(({ name }) => name === 'folder')).toMatchObject(folder);
    const file = { path: '/tmp/ä∕ö⁄.txt', is_dir: false, size_bytes: 1, mode: '-rw-r-----' };
    expect(entries.find(({ name }) => name === 'ä∕ö⁄.txt')).toMatchObject(file);
    expect(entries.find(({ name }) => name === 'link')).toMatchObject({ is_dir: false, mode: 'lrwxrwxrwx' });
    expect(entries.find(({ name }) => name === 'pipe')?.mode).toMatch(/^p/);
  });
});

describe('download_dir_zip', () => {
  it('contains files and folders only, by name', async () => {
    await mkdir(path.join(root, 'tmp/d/empty'), { recursive: true });
    await writeFile(path.join(root, 'tmp/d/ä∕ö.txt'), 'umlaut');
    await writeFile(path.join(root, 'tmp/d/..\\..\\evil'), 'backslash');
    await symlink('/etc/passwd', path.join(root, 'tmp/d/passwd'));
    await symlink(base, path.join(root, 'tmp/d/host'));
    execFileSync('mkfifo', [path.join(root, 'tmp/d/pipe')]);
    const socket = net.createServer().listen(path.join(root, 'tmp/d/socket'));
    expect(await unzipped('/tmp/d')).toEqual({ 'empty/': '', 'ä∕ö.txt': 'umlaut', '.._.._evil': 'backslash' });
    socket.close();
    await expect(zipFolder(files, '/tmp/d/ä∕ö.txt')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(zipFolder(files, '/tmp/none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('stops when its reader disconnects, and closes all files', async () => {
    await mkdir(path.join(root, 'tmp/d/e'), { recursive: true });
    execFileSync('truncate', ['-s', '3G', path.join(root, 'tmp/d/e/large')]);
    const before = await openFiles();
    const archive = await zipFolder(files, '/tmp/d');
    await new Promise((resolve) => archive.once('readable', resolve));
    archive.destroy();
    for (let round = 0; round < 200 && (await openFiles()) > before; round++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect(await openFiles()).toBe(before);
  });

  it('uses no more memory for a large folder than for a small one', async () => {
    await mkdir(path.join(root, 'tmp/d'), { recursive: true });
    execFileSync('truncate', ['-s', '100M', path.join(root, 'tmp/d/large')]);
    let most = 0;
    let bytes = 0;
    let pieces = 0;
    const before = heldMemory();
    for await (const piece of await zipFolder(files, '/tmp/d')) {
      bytes += (piece as Buffer).length;
      pieces += 1;
      // What is held early is held later, too, or was so before the first piece: not each is worth the collection of all garbage.
      if (pieces % 8 === 1) most = Math.max(most, heldMemory() - before);
    }
    expect(bytes).toBeGreaterThan(60_000);
    expect(most).toBeLessThan(40 * 1024 * 1024);
  });
});
