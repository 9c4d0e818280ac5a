import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ERROR_CODES } from '../../contract/errors.ts';

it('documents every error code, with its status, cause and next step, and no other', async () => {
  const doc = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = doc.split('\n').filter((line) => line.startsWith('| `'));
  const cells = rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
  const registered = Object.entries(ERROR_CODES).map(([code, { status, cause, next }]) => [
    code,
    String(status),
    cause.replaceAll('`', ''),
    next.replaceAll('`', ''),
  ]);
  expect(cells).toEqual(registered);
});
