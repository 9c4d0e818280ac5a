import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { featureTable, ensureFeatures } from '../../start/setup/features.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-features-'));
  vi.stubEnv('PATH', folder);
  vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function program(name: string, script = 'exit 0'): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, name), 0o755);
}

const provide = async () => {
  const states = await ensureFeatures(Promise.resolve(false));
  return Object.fromEntries(states.map(({ name, fault }) => [name, fault ?? 'works']));
};

test('with all programs installed, everything works, and nothing is printed', async () => {
  for (const name of ['Xvfb', 'ffmpeg', 'bwrap', 'xdotool']) await program(name);
  await program('fc-list', 'echo a font');
  expect(new Set(Object.values(await provide()))).toEqual(new Set(['works']));
  expect(featureTable(await ensureFeatures(Promise.resolve(false)))).toEqual([]);
});

test('missing programs are reported with their features and how to install them; logins never depend on them', async () => {
  await program('Xvfb');
  await program('bwrap', 'echo "No permissions to create new namespace" >&2; exit 1');
  await program('fc-list', 'case "$1" in :lang=ja | :lang=hi) ;; *) echo a font ;; esac');
  expect(await provide()).toEqual({
    'Browsers with a window': 'works',
    'Input through the window': 'xdotool missing (apt-get install xdotool)',
    'Replays and recorded logins': 'ffmpeg missing (apt-get install ffmpeg)',
    'Programs inside sessions': 'bubblewrap may not create namespaces (No permissions to create new namespace)',
    'Fonts of every script':
      'none for Chinese, Japanese and Korean, Indic (apt-get install fonts-noto-cjk fonts-noto-core)',
  });
  const table = featureTable(await ensureFeatures(Promise.resolve(false)));
  expect(table).toContain('    Logins, health checks, CDP   yes');
  expect(table).toContain('    Input through the window     no: xdotool missing (apt-get install xdotool)');
});

test('a failed installation is retried a day later, not on every start', async () => {
  await program('apt-get', `echo "$@" >> ${folder}/calls; exit 100`);
  await ensureFeatures(Promise.resolve(true));
  const calls = await readFile(join(folder, 'calls'), 'utf8');
  expect(calls).toMatch(/install -y -q --no-install-recommends xvfb xdotool ffmpeg bubblewrap\n$/);
  await ensureFeatures(Promise.resolve(true));
  expect(await readFile(join(folder, 'calls'), 'utf8')).toBe(calls);
});

test('the reason of a failed installation is reported', async () => {
  await program('apt-get', 'echo "E: Unable to locate package xvfb" >&2; exit 100');
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await ensureFeatures(Promise.resolve(true));
  expect(said.mock.calls.join('')).toContain('apt-get failed: E: Unable to locate package xvfb\n');
  said.mockRestore();
});

test("an installation blocked by another one's lock is retried", async () => {
  const locked = 'dpkg: error: dpkg frontend lock was locked by another process with pid 7';
  await program(
    'apt-get',
    `case "$*" in *install*) echo x >> ${folder}/calls;; *) exit 0;; esac; [ "$(grep -c x ${folder}/calls)" = 2 ] || { echo "${locked}"; exit 100; }`,
  );
  vi.stubEnv('PATH', `${folder}:/usr/bin:/bin`);
  await program('fc-list', 'echo');
  await ensureFeatures(Promise.resolve(true));
  expect(await readFile(join(folder, 'calls'), 'utf8')).toBe('x\nx\n');
  expect(await readdir(join(folder, 'cache')).catch(() => [])).toEqual([]);
});
