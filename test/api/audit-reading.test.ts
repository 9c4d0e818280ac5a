import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import { auditEntry } from '../store/audit-entry.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const DAY = { start: '2026-03-01T00:00:00Z', end: '2026-03-02T00:00:00Z' };
/** More than two batches of a chunk. */
const ROWS = 2300;

beforeAll(async () => {
  const first = Date.parse('2026-03-01T10:00:00.000Z');
  const records = Array.from({ length: ROWS }, (_, index) => ({
    organizationId: 'org_default',
    projectId: null,
    entry: auditEntry({ timestamp: new Date(first + index).toISOString(), path: `/row/${index}`, method: 'GET' }),
  }));
  for (let at = 0; at < ROWS; at += 500) await fixture().store.auditLog.append(records.slice(at, at + 500));
});

const read = (path: string, query: Record<string, string>) =>
  fixture().call('GET', `${path}?${new URLSearchParams({ ...DAY, ...query })}`);
const page = (query: Record<string, string> = {}) => read('/audit-logs', { limit: '2', ...query });
const chunk = (query: Record<string, string> = {}) =>
  read('/audit-logs/export/chunk', { limit: '2', format: 'jsonl', ...query });
const pathsOf = (lines: string): string[] =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as AuditLogEntry).path);

describe('page tokens and chunk cursors', () => {
  it('are accepted only by their own operation', async () => {
    const token = String((await page()).headers['x-next-page-token']);
    const cursor = String((await chunk()).headers['x-next-cursor']);
    const [ofPage, ofChunk] = [await page({ page_token: token }), await chunk({ cursor })];
    expect(ofPage.json<AuditLogEntry[]>().map(({ path }) => path)).toEqual(['/row/2297', '/row/2296']);
    expect(pathsOf(ofChunk.body)).toEqual(['/row/2297', '/row/2296']);
    for (const [field, answer] of [
      ['page_token', await page({ page_token: cursor })],
      ['cursor', await chunk({ cursor: token })],
      ['cursor', await chunk({ cursor: 'x' })],
    ] as const) {
      expect([answer.statusCode, answer.json()]).toMatchObject([
        400,
        { code: 'invalid_input', details: [{ message: expect.stringMatching(`^${field}: `) as unknown }] },
      ]);
    }
  });

  it('require the filters they were issued with, in any spelling', async () => {
    const filters = { method: 'get', exclude_method: 'PUT,DELETE', search: '/ROW/' };
    const token = String((await page(filters)).headers['x-next-page-token']);
    const same = { ...filters, method: 'GET', exclude_method: 'delete,put', page_token: token };
    expect((await page({ ...same, limit: '1' })).json()).toMatchObject([{ path: '/row/2297' }]);
    for (const other of [{ search: '/row' }, { end: '2026-03-03T00:00:00Z' }, { service: 'api' }, { method: 'HEAD' }]) {
      const answer = await page({ ...same, ...other });
      expect([answer.statusCode, answer.json<{ message: string }>().message]).toEqual([
        400,
        expect.stringContaining('page_token: was issued for other filters'),
      ]);
    }
  });
});

describe('an audit log chunk', () => {
  it('is read in batches, complete and in order, with its digest, plain and compressed', async () => {
    const batches = vi.spyOn(fixture().store.auditLog, 'page');
    const [lines, packed] = [
      await chunk({ limit: '2250' }),
      await fixture().call(
        'GET',
        `/audit-logs/export/chunk?${new URLSearchParams({ ...DAY, limit: '2250', format: 'jsonl.gz' })}`,
      ),
    ];
    expect(batches.mock.calls.map(([, { limit }]) => limit)).toEqual([1000, 1000, 250, 1000, 1000, 250]);
    batches.mockRestore();
    for (const { rawPayload, headers } of [lines, packed]) {
      expect(headers).toMatchObject({
        'x-row-count': '2250',
        'x-has-more': 'true',
        'content-length': String(rawPayload.length),
        'x-content-sha256': createHash('sha256').update(rawPayload).digest('hex'),
      });
    }
    expect(gunzipSync(packed.rawPayload).equals(lines.rawPayload)).toBe(true);
    expect(pathsOf(lines.body)).toEqual(Array.from({ length: 2250 }, (_, index) => `/row/${ROWS - 1 - index}`));

    const rest = await chunk({ limit: '2250', cursor: String(lines.headers['x-next-cursor']) });
    expect(rest.headers).toMatchObject({ 'x-row-count': '50', 'x-has-more': 'false' });
    expect(rest.headers).not.toHaveProperty('x-next-cursor');
    expect(pathsOf(rest.body).at(-1)).toBe('/row/0');
  });

  it('is empty without rows', async () => {
    const answer = await chunk({ search: 'no row has this' });
    expect([answer.statusCode, answer.body, answer.headers['x-row-count']]).toEqual([200, '', '0']);
  });
});
