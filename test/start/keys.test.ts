import { mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadKeys } from '../../start/keys.ts';
import { parseSettings } from '../../start/settings.ts';

describe('keys', () => {
  let dataDir = '';
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'holdfast-keys-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const settings = (env: NodeJS.ProcessEnv = {}) => parseSettings({ HOLDFAST_DATA_DIR: dataDir, ...env });

  test('missing keys are created once, readable only by the owner', async () => {
    const first = await loadKeys(settings());
    expect(first.masterKey).toHaveLength(32);
    expect(first.apiKey).toMatch(/^hf_live_/);
    expect(await loadKeys(settings())).toEqual(first);
    for (const file of await readdir(join(dataDir, 'keys'))) {
      expect((await stat(join(dataDir, 'keys', file))).mode & 0o777).toBe(0o600);
    }
    expect((await stat(join(dataDir, 'keys'))).mode & 0o777).toBe(0o700);
  });

  test('ten concurrent calls get the same keys, and leave no temporary file', async () => {
    const all = await Promise.all(Array.from({ length: 10 }, () => loadKeys(settings())));
    for (const keys of all) expect(keys).toEqual(all[0]);
    expect((await readdir(join(dataDir, 'keys'))).sort()).toEqual(['api.key', 'browser.key', 'master.key']);
  });

  test('configured keys are used and not written to disk', async () => {
    const apiKey = 'an-api-key-of-the-operator';
    const keys = await loadKeys(settings({ HOLDFAST_API_KEY: apiKey, HOLDFAST_MASTER_KEY: '11'.repeat(32) }));
    expect(keys.apiKey).toBe(apiKey);
    expect(keys.masterKey).toEqual(Buffer.alloc(32, 0x11));
    expect(await readdir(join(dataDir, 'keys'))).toEqual(['browser.key']);
  });

  test('a damaged master key is rejected, not replaced', async () => {
    await loadKeys(settings());
    const file = join(dataDir, 'keys', 'master.key');
    await writeFile(file, 'AAAA\n');
    await expect(loadKeys(settings())).rejects.toThrow(/master\.key is not a key of 32 bytes/);
    expect(await readFile(file, 'utf8')).toBe('AAAA\n');
  });
});
