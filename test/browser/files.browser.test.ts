import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { toFile } from '@onkernel/sdk';
import { afterAll, describe, expect } from 'vitest';
import { ZipFile } from 'yazl';
import { heldMemory } from './held-memory.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { API_KEY, containing, eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let id: string;
let folder: string;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  id = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
  folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-uploads-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const fs = () => service.kernel.browsers.fs;
const text = async (place: string): Promise<string> => (await fs().readFile(id, { path: place })).text();
const names = async (place: string): Promise<string[]> =>
  (await fs().listFiles(id, { path: place })).map(({ name }) => name);

/** What the session's own processes see. */
async function shell(line: string): Promise<string> {
  const answer = await service.kernel.browsers.process.exec(id, { command: 'sh', args: ['-c', line] });
  return Buffer.from(answer.stdout_b64 ?? '', 'base64').toString() + String(answer.exit_code);
}

describe('files, through the public client', () => {
  it('can be written, read, moved and deleted, and are shared with processes', async () => {
    await fs().createDirectory(id, { path: '/home/user/a/b c', mode: '0750' });
    await fs().writeFile(id, 'one ü', { path: '/home/user/a/b c/ü.txt', mode: '640' });
    expect(await text('/home/user/a/b c/ü.txt')).toBe('one ü');
    expect(await fs().fileInfo(id, { path: '/home/user/a/b c/ü.txt' })).toMatchObject({
      name: 'ü.txt',
      is_dir: false,
      size_bytes: 6,
      mode: '-rw-r-----',
    });
    expect((await fs().fileInfo(id, { path: '/home/user/a/b c' })).mode).toBe('drwxr-x---');
    expect(await shell('cat "/home/user/a/b c/ü.txt" && echo two > "/home/user/a/b c/ü.txt"')).toBe('one ü0');
    expect(await text('/home/user/a/b c/ü.txt')).toBe('two\n');
    await fs().move(id, { src_path: '/home/user/a/b c/ü.txt', dest_path: '/home/user/a/moved' });
    await fs().setFilePermissions(id, { path: '/home/user/a/moved', mode: '0600', owner: 'user' });
    expect((await fs().fileInfo(id, { path: '/home/user/a/moved' })).mode).toBe('-rw-------');
    await fs().writeFile(id, Buffer.alloc(0), { path: '/home/user/a/moved' });
    expect(await text('/home/user/a/moved')).toBe('');
    await fs().deleteFile(id, { path: '/home/user/a/moved' });
    await fs().deleteDirectory(id, { path: '/home/user/a' });
    expect(await names('/home/user')).toEqual([]);
  });

  it.each(['read_file?path=/tmp/slow/large', 'download_dir_zip?path=/tmp/slow'])(
    'go by %s to a reader who does not read without a place in memory',
    async (operation) => {
      await shell('mkdir -p /tmp/slow && head -c 30000000 /dev/urandom > /tmp/slow/large');
      const before = heldMemory();
      const request = http.get(`${service.handle.url}/browsers/${id}/fs/${operation}`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
      response.pause();
      let most = 0;
      // Long enough for all of it to be read, were it not for the reader.
      for (let round = 0; round < 10; round++) {
        expect(await shell('sleep 0.05')).toBe('0');
        most = Math.max(most, heldMemory() - before);
      }
      expect(most).toBeLessThan(10 * 1024 * 1024);
      let bytes = 0;
      for await (const piece of response) bytes += (piece as Buffer).length;
      expect(bytes).toBeGreaterThanOrEqual(30_000_000);
      await fs().deleteDirectory(id, { path: '/tmp/slow' });
    },
  );

  it('leave nothing behind if the upload breaks off', async () => {
    await fs().writeFile(id, 'whole', { path: '/tmp/kept' });
    const request = http.request(`${service.handle.url}/browsers/${id}/fs/write_file?path=/tmp/kept`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-length': '1000' },
    });
    request.on('error', () => undefined);
    request.write('half');
    await eventually(async () => expect(await uploads()).toHaveLength(1));
    request.destroy();
    await eventually(async () => expect(await uploads()).toEqual([]));
    expect(await text('/tmp/kept')).toBe('whole');
  });

  it('can be uploaded as a form', async () => {
    await fs().upload(id, {
      files: [
        { dest_path: '/tmp/first ü', file: await toFile(Buffer.from('1'), 'x') },
        { dest_path: '/tmp/second', file: await toFile(Buffer.from('22'), 'x') },
      ],
    });
    expect([await text('/tmp/first ü'), await text('/tmp/second')]).toEqual(['1', '22']);
    const unindexed = new FormData();
    for (const name of ['3', '4']) {
      unindexed.append('files[][file]', new Blob([name]), 'x');
      unindexed.append('files[][dest_path]', `/tmp/unindexed-${name}`);
    }
    expect((await form('upload', unindexed)).status).toBe(200);
    expect([await text('/tmp/unindexed-3'), await text('/tmp/unindexed-4')]).toEqual(['3', '4']);
  });

  it('create parent folders, and errors name the invalid path', async () => {
    const file = await toFile(Buffer.from('1'), 'x');
    await fs().upload(id, { files: [{ dest_path: '/tmp/new/ü folder/../one', file }] });
    await fs().writeFile(id, 'two', { path: '/tmp/new/deep/er/two' });
    expect([await text('/tmp/new/one'), await text('/tmp/new/deep/er/two')]).toEqual(['1', 'two']);
    expect(await shell('touch /tmp/new/deep/er/mine')).toBe('0');
    const below = fs().upload(id, { files: [{ dest_path: '/tmp/new/one/two', file }] });
    await expect(below).rejects.toMatchObject({ status: 400, message: containing('files[0][dest_path]: ') });
    await expect(fs().writeFile(id, 'x', { path: '/etc/none/x' })).rejects.toMatchObject({ status: 403 });
  });

  it('of an invalid form change nothing', async () => {
    const bad = new FormData();
    bad.append('files[0][file]', new Blob(['1']), 'x');
    bad.append('files[0][dest_path]', '/tmp/not-written');
    bad.append('files[1][file]', new Blob(['2']), 'x');
    const answer = await form('upload', bad);
    expect([answer.status, ((await answer.json()) as { message: string }).message]).toEqual([
      400,
      'files[1][dest_path]: must be an absolute path',
    ]);
    expect(await names('/tmp')).not.toContain('not-written');
    expect((await form('upload', new FormData())).status).toBe(400);
    const broken = await fetch(`${service.handle.url}/browsers/${id}/fs/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\ncontent-disposition: form-data; name="files[0][file]"; filename="a"\r\n\r\nhalf',
    });
    expect(broken.status).toBe(400);
    expect(await uploads()).toEqual([]);
  });

  it('can be uploaded and downloaded as an archive', async () => {
    const zip = new ZipFile();
    zip.addEmptyDirectory('empty');
    zip.addBuffer(Buffer.from('deep'), 'a/b/ü.txt', { mode: 0o100751 });
    zip.end();
    await fs().uploadZip(id, { dest_path: '/tmp/unpacked/here', zip_file: await toFile(await bytes(zip), 'a.zip') });
    expect(await names('/tmp/unpacked/here')).toEqual(['a', 'empty']);
    expect(await text('/tmp/unpacked/here/a/b/ü.txt')).toBe('deep');
    expect((await fs().fileInfo(id, { path: '/tmp/unpacked/here/a/b/ü.txt' })).mode).toBe('-rwxr-x--x');
    expect(await shell('rm -r /tmp/unpacked/here/empty')).toBe('0');
    const archive = path.join(folder, 'back.zip');
    await writeFile(
      archive,
      Buffer.from(await (await fs().downloadDirZip(id, { path: '/tmp/unpacked' })).arrayBuffer()),
    );
    const list = execFileSync('unzip', ['-Z1', archive], { encoding: 'utf8' }).trim().split('\n');
    expect(list).toEqual(['here/', 'here/a/', 'here/a/b/', 'here/a/b/ü.txt']);
  });

  it('of an archive stay in its folder, and an invalid archive changes nothing', async () => {
    const named = (await archiveOf('aa/aa/aa/climbed')).toString('latin1');
    const climb = Buffer.from(named.replaceAll('aa/aa/aa/', '../../../'), 'latin1');
    for (const [name, archive] of Object.entries({
      link: await archiveOf('link', 0o120777),
      climb,
      nothing: Buffer.from('no archive'),
      empty: Buffer.alloc(0),
    })) {
      const sent = fs().uploadZip(id, { dest_path: `/tmp/bad-${name}`, zip_file: await toFile(archive, 'a.zip') });
      await expect(sent).rejects.toMatchObject({ status: 400, message: containing('zip_file: ') });
      expect(await names('/tmp')).not.toContain(`bad-${name}`);
    }
    expect(await uploads()).toEqual([]);
  });

  it('cannot leave the session through links', async () => {
    const secret = path.join(folder, 'secret');
    await writeFile(secret, 'of the host');
    await symlink(secret, path.join(await root(), 'tmp/to-host'));
    await symlink(folder, path.join(await root(), 'tmp/to-folder'));
    await expect(fs().writeFile(id, 'x', { path: '/tmp/to-host' })).rejects.toMatchObject({ status: 404 });
    await expect(fs().writeFile(id, 'x', { path: '/tmp/to-folder/new' })).rejects.toMatchObject({ status: 404 });
    await expect(fs().createDirectory(id, { path: '/tmp/to-folder/new' })).rejects.toMatchObject({ status: 404 });
    await expect(fs().setFilePermissions(id, { path: '/tmp/to-host', mode: '777' })).rejects.toMatchObject({
      status: 404,
    });
    await expect(fs().deleteDirectory(id, { path: '/tmp/to-folder' })).rejects.toMatchObject({ status: 400 });
    await expect(fs().writeFile(id, 'x', { path: '/etc/passwd' })).rejects.toMatchObject({ status: 403 });
    await fs().deleteFile(id, { path: '/tmp/to-host' });
    expect(await readFile(secret, 'utf8')).toBe('of the host');
  });

  it.each([
    ['deleteFile', { path: '/tmp' }, 400, 'path'],
    ['deleteFile', { path: '/tmp/none' }, 404, 'path'],
    ['deleteDirectory', { path: '/' }, 400, 'path'],
    ['createDirectory', { path: '/tmp/x', mode: '999' }, 400, 'mode'],
    ['createDirectory', { path: 'tmp' }, 400, 'path'],
    ['createDirectory', { path: `/tmp/${'x'.repeat(300)}` }, 400, 'path'],
    ['move', { src_path: '/tmp/none', dest_path: '/tmp/b' }, 404, 'src_path'],
    ['move', { src_path: '/tmp', dest_path: '/tmp/b' }, 400, 'dest_path'],
    ['move', { src_path: '/tmp', dest_path: '/none/b' }, 404, 'dest_path'],
    ['setFilePermissions', { path: '/tmp', mode: '755', owner: 'root' }, 400, 'owner'],
    ['fileInfo', { path: '/tmp/\0' }, 400, 'path'],
    ['readFile', { path: '/tmp' }, 400, 'path'],
  ] as const)('%s refuses %j with %i, naming the field', async (operation, body, status, field) => {
    const call = fs()[operation].bind(fs()) as (session: string, input: unknown) => Promise<unknown>;
    await expect(call(id, body)).rejects.toMatchObject({ status, message: containing(`${field}: `) });
  });
});

async function root(): Promise<string> {
  return path.join(await sessionFolder(), 'root');
}

async function sessionFolder(): Promise<string> {
  const [name] = await readdir(path.join(service.workDir, 'sessions'));
  return path.join(service.workDir, 'sessions', name ?? '', 'Session');
}

/** What the service holds that has no place yet. */
async function uploads(): Promise<string[]> {
  return (await readdir(path.join(await sessionFolder(), 'work'))).filter((name) => name.endsWith('.upload'));
}

function form(operation: string, body: FormData): Promise<Response> {
  return fetch(`${service.handle.url}/browsers/${id}/fs/${operation}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body,
  });
}

/** An archive whose second entry has a name and permissions of its own. */
function archiveOf(name: string, mode = 0o100644): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('first'), 'before');
  zip.addBuffer(Buffer.from('/etc'), name, { mode });
  zip.end();
  return bytes(zip);
}

async function bytes({ outputStream }: ZipFile): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of outputStream) pieces.push(Buffer.from(piece as Uint8Array));
  return Buffer.concat(pieces);
}
