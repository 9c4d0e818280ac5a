import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { beforeEach, describe, expect } from 'vitest';
import type { ServiceUnderTest } from './service-under-test.ts';
import { containing, eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let id: string;
let root: string;
let count = 0;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  id = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
});
beforeEach(async () => {
  root = `/home/user/w${String(++count)}`;
  await fs().createDirectory(id, { path: `${root}/sub/deep` });
});

const fs = () => service.kernel.browsers.fs;
const start = async (place: string, recursive = false): Promise<string> =>
  (await fs().watch.start(id, { path: place, recursive })).watch_id ?? '';

async function shell(line: string): Promise<void> {
  const { exit_code } = await service.kernel.browsers.process.exec(id, {
    command: 'sh',
    args: ['-c', line],
    cwd: root,
  });
  expect(exit_code).toBe(0);
}

/** Events as short texts, from now until `last` has come; `meanwhile` happens when the reader is there. */
async function told(watch: string, last: string, meanwhile?: () => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  const stream = await fs().watch.events(watch, { id });
  await meanwhile?.();
  for await (const { type, path: place, name, is_dir } of stream) {
    expect(name).toBe(path.basename(place));
    seen.push(`${type} ${path.relative(root, place)}${is_dir === true ? '/' : ''}`);
    if (seen.at(-1) === last) break;
  }
  return seen;
}

/** Folders of sessions that this process holds open. */
const held = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('/home/user/');
    } catch {
      return false;
    }
  }).length;

describe('a watch', () => {
  it('reports creations, writes, renames and deletions, optionally recursively', async () => {
    const [flat, deep] = [await start(root), await start(root, true)];
    await shell('echo 1 > a');
    await shell('echo 22 >> a');
    await shell('chmod 600 a');
    await shell('mv a "b ü"');
    await shell('echo 1 > sub/deep/c');
    await shell('mkdir -p new/er && touch new/er/d');
    await shell('rm -r "b ü" new && touch end');
    expect(await told(flat, 'CREATE end')).toEqual(
      ['CREATE a', 'WRITE a', 'WRITE a', 'RENAME a', 'CREATE b ü', 'CREATE new/', 'DELETE b ü', 'DELETE new/', 'CREATE end'], // oxfmt-ignore
    );
    const all = await told(deep, 'CREATE end');
    for (const event of [
      'CREATE sub/deep/c',
      'WRITE sub/deep/c',
      'CREATE new/',
      'CREATE new/er/',
      'CREATE new/er/d',
      'DELETE new/',
    ]) {
      expect(all.filter((one) => one === event)).toHaveLength(1);
    }
    expect(all).toEqual(expect.arrayContaining(['RENAME a', 'CREATE b ü', 'DELETE b ü']));
    for (const watch of [flat, deep]) await fs().watch.stop(watch, { id });
  });

  it('outlives its reader, and ends by a call or with its folder', async () => {
    const watch = await start(`${root}/sub`, true);
    await shell('touch sub/a');
    expect(await told(watch, 'CREATE sub/a')).toEqual(['CREATE sub/a']);
    await shell('touch sub/b');
    expect(await told(watch, 'CREATE sub/b')).toEqual(['CREATE sub/b']);
    expect((await told(watch, 'never', () => shell('rm -r sub'))).at(-1)).toBe('DELETE sub/');
    const other = await start(root);
    expect(await told(other, 'never', () => fs().watch.stop(other, { id }))).toEqual([]);
    for (const call of [() => fs().watch.stop(other, { id }), () => fs().watch.events('none', { id })])
      await expect(call()).rejects.toMatchObject({ status: 404 });
  });

  it('has limits, and releases everything at its end', async () => {
    const watches = await Promise.all(Array.from({ length: 16 }, () => start(root)));
    await expect(start(root)).rejects.toMatchObject({ status: 422, message: containing('16') });
    await Promise.all(watches.map((one) => fs().watch.stop(one, { id })));
    await shell('i=0; mkdir many; while [ $i -lt 600 ]; do mkdir many/$i; i=$((i+1)); done');
    await expect(start(`${root}/many`, true)).rejects.toMatchObject({ status: 422, message: containing('500') });
    expect(held()).toBe(0);
  });

  it('cannot leave the session by a path, a link or a swapped folder', async () => {
    const outside = await mkdtemp(path.join(os.tmpdir(), 'holdfast-outside-'));
    await shell(`ln -s '${outside}' out && ln -s '${outside}' sub/out`);
    await expect(start(`${root}/out`)).rejects.toMatchObject({ status: 404 });
    await expect(start(`/../../../../../../../..${outside}`)).rejects.toMatchObject({ status: 404 });
    await expect(start('/etc')).rejects.toMatchObject({ status: 403 });
    await expect(start(`${root}/none`)).rejects.toMatchObject({ status: 404 });
    const watch = await start(root, true);
    await shell(`rm -r sub && ln -s '${outside}' sub`);
    await writeFile(path.join(outside, 'secret'), '1');
    await shell('touch end');
    expect((await told(watch, 'CREATE end')).join()).not.toContain('secret');
    await fs().watch.stop(watch, { id });
    await fs().writeFile(id, '1', { path: `${root}/file` });
    await expect(start(`${root}/file`)).rejects.toMatchObject({ status: 400, message: containing('path') });
    await rm(outside, { recursive: true });
  });

  it('ends with its session, and ends its reader', async () => {
    const session = (await service.kernel.browsers.create({})).session_id;
    await fs().createDirectory(session, { path: '/home/user/x' });
    const { watch_id: watch = '' } = await fs().watch.start(session, { path: '/', recursive: true });
    const stream = await fs().watch.events(watch, { id: session });
    await service.kernel.browsers.deleteByID(session);
    for await (const event of stream) expect(event.type).not.toBe('RENAME');
    await eventually(() => expect(held()).toBe(0));
  });
});
