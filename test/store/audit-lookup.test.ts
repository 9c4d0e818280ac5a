import { Kysely, PostgresDialect, type CompiledQuery } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import { createPool, type Db } from '../../store/database.ts';
import type { AuditLogRequest } from '../../store/queries/audit-log.ts';
import { searchAuditLog, type AuditLookup } from '../../store/queries/audit-log-lookup.ts';
import type { Database } from '../../store/schema.ts';
import { auditEntry } from './audit-entry.ts';
import { runOnce, useStore } from './databases.ts';

const DAY_MS = 86_400_000;
const FIRST = Date.parse('2026-03-01T00:00:00.000Z');
const DAYS = 60;
const ROWS_A_DAY = 100;
/** A day of so many rows alike that they are not read at once. */
const FULL_DAY = 30;
const ROWS_OF_FULL_DAY = 2500;
const ORGANIZATION = 'org_lookup';

interface Written {
  projectId: string;
  entry: AuditLogEntry;
}

/** Rows of two projects in turns: those of one are submits, those of the other are not. */
const WRITTEN: Written[] = Array.from({ length: DAYS }, (_, day) => [
  ...Array.from({ length: ROWS_A_DAY }, (_each, index) => rowOf(day, index, ROWS_A_DAY)),
  ...(day === FULL_DAY
    ? Array.from({ length: ROWS_OF_FULL_DAY }, (_each, index) => ({
        projectId: 'prj_profiles',
        entry: auditEntry({
          timestamp: timeOf(day, (index + 0.5) / ROWS_OF_FULL_DAY),
          path: `/full/${index}`,
          user_id: 'usr_full',
        }),
      }))
    : []),
]).flat();

function rowOf(day: number, index: number, ofDay: number): Written {
  const number = day * ofDay + index;
  const more: Partial<AuditLogEntry> = {
    timestamp: timeOf(day, index / ofDay),
    method: number % 3 === 0 ? 'GET' : 'POST',
    user_id: number % 700 === 7 ? 'usr_rare' : `usr_${number % 5}`,
    email: '',
    client_ip: `10.0.${number % 7}.${number % 11}`,
    status: number % 900 === 11 ? 503 : 200,
  };
  return number % 2 === 0
    ? { projectId: 'prj_submits', entry: auditEntry({ ...more, path: `/auth/connections/c${number}/submit` }) }
    : { projectId: 'prj_profiles', entry: auditEntry({ ...more, path: `/profiles/p${number}` }) };
}

function timeOf(day: number, part: number): string {
  return new Date(FIRST + Math.floor((day + part) * DAY_MS)).toISOString();
}

describe('the audit log, if other organizations have many rows', () => {
  const context = useStore();
  beforeAll(async () => {
    const { store, database } = context();
    // Those of one day are written at its end: long requests are written after shorter ones that came later.
    const records = WRITTEN.map((row) => ({ organizationId: ORGANIZATION, ...row }));
    for (let at = 0; at < records.length; at += 500)
      await store.auditLog.append(records.slice(at, at + 500).toReversed());
    await runOnce(database.connection, 'vacuum analyze audit_log');
  });

  const requests: [string, string | null, Partial<AuditLogRequest>][] = [];
  for (const projectId of [null, 'prj_profiles'])
    for (const filters of [
      { search: '/SUBMIT' },
      { search: 'connections/submit' },
      { search: '/profiles/p1' },
      { search: '503' },
      { search: '10.0.6.10' },
      { search: '/full/' },
      { search: '/full/17' },
      { search: '%' },
      { search: 'f' },
      { search: '/nowhere' },
      { search_user_id: ['usr_rare'] },
      { search_user_id: ['usr_full', 'usr_1'] },
      { search_user_id: ['usr_none'] },
      { search: '/full/1', search_user_id: ['usr_rare'] },
      { method: 'GET', search: '/full' },
      { method: 'POST', search: '/submit', search_user_id: ['usr_full'] },
      { method: 'GET', search_user_id: ['usr_full'] },
    ])
      requests.push([JSON.stringify(filters), projectId, filters]);

  it.each(requests)('finds all matches by %s in %s', async (_filters, projectId, filters) => {
    const scope = { organizationId: ORGANIZATION, projectId };
    const days = { start: new Date(FIRST + 5.5 * DAY_MS), end: new Date(FIRST + 50.5 * DAY_MS) };
    for (const request of [{}, days].map((more) => ({ ...more, ...filters }))) {
      const found: string[] = [];
      let after: string | undefined;
      // Most pages of what is found on few, one page of what is found on many.
      for (let page = 0; page < 3; page += 1) {
        const { rows, next } = await context().store.auditLog.page(scope, { ...request, limit: 90, after });
        found.push(...rows.map(({ path }) => path));
        if (next === null) break;
        after = next;
      }
      expect(found).toEqual(expected(projectId, request).slice(0, 270));
    }
  });

  it('reads few rows for a search that matches only other organizations', async () => {
    const { database } = context();
    const pool = createPool(database.connection, 1);
    const asked: CompiledQuery[] = [];
    const db: Db = new Kysely<Database>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => void asked.push(query),
    });
    // So few rows would be read whole.
    await pool.query('set enable_seqscan = off');
    const { rows: kinds } = await pool.query<{ id: number }>(
      `select id from audit_log_kinds where project_id = 'prj_profiles' and method = 'GET'`,
    );
    const lookup: AuditLookup = {
      scope: { organizationId: ORGANIZATION, projectId: 'prj_profiles' },
      kinds: { ids: kinds.map(({ id }) => id), labels: [['project prj_profiles'], ['method GET']] },
      before: null,
      users: [],
      limit: 101,
    };
    for (const more of [{ search: '/submit' }, { search: 'connections/submit' }, { users: ['usr_none'] }]) {
      asked.length = 0;
      expect(await searchAuditLog(db, { ...lookup, ...more })).toEqual([]);
      // The newest rows of its own kinds were looked at before.
      const [, ...later] = asked;
      const read: number[] = [];
      for (const { sql, parameters } of later) {
        const { rows } = await pool.query<{ 'QUERY PLAN': unknown }>(`explain (analyze, format json) ${sql}`, [
          ...parameters,
        ]);
        const [explained] = z.array(z.object({ Plan })).parse(rows[0]?.['QUERY PLAN']);
        read.push(explained === undefined ? Number.NaN : rowsRead(explained.Plan));
      }
      expect(read.length).toBeGreaterThan(2);
      expect({ ...more, read: Math.max(...read) < 20 ? 'few' : read }).toEqual({ ...more, read: 'few' });
    }
    await db.destroy();
  });
});

function expected(projectId: string | null, request: Partial<AuditLogRequest>): string[] {
  const { start, end, method, search = '', search_user_id: users } = request;
  return WRITTEN.filter(({ projectId: of, entry }) => {
    const time = new Date(entry.timestamp);
    const text = [entry.path, entry.user_id, entry.email, entry.client_ip, entry.status].join('\n').toLowerCase();
    return (
      (projectId === null || projectId === of) &&
      (start === undefined || time >= start) &&
      (end === undefined || time < end) &&
      (method === undefined || method === entry.method) &&
      ((search !== '' && text.includes(search.toLowerCase())) || (users?.includes(entry.user_id) ?? false))
    );
  })
    .toSorted((one, other) => other.entry.timestamp.localeCompare(one.entry.timestamp))
    .map(({ entry }) => entry.path);
}

/** A node of a plan, as far as it tells of rows. */
interface PlanNode {
  'Relation Name'?: string | undefined;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number | undefined;
  'Rows Removed by Index Recheck'?: number | undefined;
  Plans?: PlanNode[] | undefined;
}
const Plan: z.ZodType<PlanNode> = z.lazy(() =>
  z.object({
    'Relation Name': z.string().optional(),
    'Actual Rows': z.number(),
    'Actual Loops': z.number(),
    'Rows Removed by Filter': z.number().optional(),
    'Rows Removed by Index Recheck': z.number().optional(),
    Plans: z.array(Plan).optional(),
  }),
);

/** Rows of tables that were read, whether they were wanted or not. */
function rowsRead(node: PlanNode): number {
  const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node;
  const own = node['Relation Name'] === undefined ? 0 : node['Actual Rows'] + filtered + rechecked;
  return (node.Plans ?? []).reduce((sum, each) => sum + rowsRead(each), own * node['Actual Loops']);
}
