import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../browser/programs/inside/schemas.mjs', import.meta.url));
const TYPESCRIPT = dirname(createRequire(import.meta.url).resolve('typescript/package.json'));

const PROGRAM = `
declare const app: { action(name: string, handler: (context: object, payload?: any) => Promise<any>): void };
interface Wish {
  name: string;
  times?: number;
  kind: 'a' | 'b';
  tags: string[];
  on?: boolean;
  pair: [string, number];
  more: Record<string, number | null>;
}
interface Tree { left?: Tree }
app.action('all', async (context: object, payload?: Wish): Promise<{ said: string; at: Date }> => ({ said: '', at: new Date() }));
app.action('recursive', async (context: object, payload?: Tree): Promise<void> => undefined);
app.action('loose', async (context: object, payload?: any) => ({ ok: true, list: [1, 2] }));
app.action('not JSON', async (context: object, payload: Map<string, string>) => 'text');
`;

it('derives schemas from action types, and none for inexpressible types', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hf-schemas-'));
  try {
    const file = join(folder, 'index.ts');
    writeFileSync(file, PROGRAM);
    const said = execFileSync(process.execPath, [SCRIPT, TYPESCRIPT, file], { encoding: 'utf8' });
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const text = { type: 'string' };
    expect(JSON.parse(said)).toEqual({
      all: {
        input_schema: {
          $schema,
          type: 'object',
          properties: {
            name: text,
            times: { type: 'number' },
            kind: { enum: ['a', 'b'] },
            tags: { type: 'array', items: text },
            on: { type: 'boolean' },
            pair: { type: 'array', items: [text, { type: 'number' }], minItems: 2, maxItems: 2 },
            more: {
              type: 'object',
              properties: {},
              additionalProperties: { anyOf: [{ type: 'null' }, { type: 'number' }] },
            },
          },
          required: ['name', 'kind', 'tags', 'pair', 'more'],
        },
        output_schema: {
          $schema,
          type: 'object',
          properties: { said: text, at: { type: 'string', format: 'date-time' } },
          required: ['said', 'at'],
        },
      },
      recursive: { input_schema: null, output_schema: null },
      loose: {
        input_schema: null,
        output_schema: {
          $schema,
          type: 'object',
          properties: { ok: { type: 'boolean' }, list: { type: 'array', items: { type: 'number' } } },
          required: ['ok', 'list'],
        },
      },
      'not JSON': { input_schema: null, output_schema: { $schema, type: 'string' } },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
