import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadWorkflowBundle } from '../../start/workflow-bundle.ts';

test('the workflow code is bundled once, by two at the same time too, and an outdated bundle goes', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-bundle-'));
  try {
    await writeFile(join(folder, 'workflows-0123456789abcdef.js'), 'outdated');
    const [first, second] = await Promise.all([loadWorkflowBundle(folder), loadWorkflowBundle(folder)]);
    expect(first.code).toContain('authConnection');
    expect(second.code.length).toBe(first.code.length);
    const names = await readdir(folder);
    expect(names).toHaveLength(1);
    const file = join(folder, names[0] ?? '');
    const before = (await stat(file)).mtimeMs;
    expect(await loadWorkflowBundle(folder)).toEqual({ code: second.code, sourceMap: '' });
    expect((await stat(file)).mtimeMs).toBe(before);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
