import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('no module of the workflows has a variable that one workflow could change for another', async () => {
  const files = await Promise.all(
    ['workflows', 'contract'].map(async (folder) =>
      (await readdir(folder, { recursive: true }))
        .filter((file) => file.endsWith('.ts'))
        .map((file) => join(folder, file)),
    ),
  );
  const texts = await Promise.all(files.flat().map(async (file) => [file, await readFile(file, 'utf8')] as const));
  expect(texts.length).toBeGreaterThan(40);
  expect(texts.filter(([, text]) => /^(export )?(let|var) /m.test(text)).map(([file]) => file)).toEqual([]);
});
