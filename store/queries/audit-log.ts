import { randomBytes } from 'node:crypto';
import { sql, type RawBuilder, type Selectable, type SqlBool } from 'kysely';
import type { AuditLogEntry, AuditLogFilters } from '../../contract/audit-logs.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { findBrokenSeal, sealRows, type SealedRow } from '../audit-chain.ts';
import type { InstallationKeys } from '../vault/installation-keys.ts';
import { containsText, withinScope, type Scope } from '../scope.ts';
import { createAuditLogKinds } from './audit-log-kinds.ts';
import { readAuditToken, writeAuditToken, type AuditPosition, type AuditTokenField } from './audit-log-token.ts';

/** One request to the API, and whom it belongs to. */
export interface AuditRecord {
  organizationId: string;
  projectId: string | null;
  entry: AuditLogEntry;
}

/** What a page of the log is asked for; without a time or filter, all of it. */
export type AuditLogRequest = Partial<AuditLogFilters> & {
  limit: number;
  /** Where the page before ended, and the parameter by which the caller says so: `page_token` where nothing else is said. */
  after?: string | undefined;
  token?: AuditTokenField;
};

/** The audit log: append and page, newest first. */
export interface AuditLogQueries {
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Throws `invalid_input` for a token that does not go on with this very request. `next` is null on the last page. */
  page(scope: Scope, request: AuditLogRequest): Promise<{ rows: AuditLogEntry[]; next: string | null }>;
  /** Checks that no row was changed or taken out since it was written. Reads all of them, some thousand at a time. */
  verify(): Promise<{ rows: number; broken: { seq: number; fault: 'changed' | 'gap' } | null }>;
}

type Row = Selectable<Database['audit_log']>;

/** Most kinds of rows that a search looks through one by one. */
const MOST_KINDS_SEARCHED = 24;
/** How many of the newest rows a search looks through before it asks the index of searches, all kinds together. */
const NEWEST_LOOKED_AT = 2000;
/** Rows that are verified at a time. */
const ROWS_A_LOOK = 5000;

/** Queries of the audit log. */
export function createAuditLogQueries(db: Db, installationKeys: InstallationKeys): AuditLogQueries {
  const kinds = createAuditLogKinds(db);
  /** Months that are known to have their partition. */
  const months = new Set<string>();
  let key: Promise<Buffer> | null = null;
  const readKey = async (): Promise<Buffer> => {
    const first = randomBytes(32);
    await installationKeys.ensure('audit-log', first);
    const [known] = await installationKeys.all('audit-log');
    return known ?? first;
  };
  const sealingKey = (): Promise<Buffer> =>
    (key ??= readKey().catch((error: unknown) => {
      key = null;
      throw error;
    }));

  return {
    append: async (records) => {
      if (records.length === 0) return;
      const rows = records.map(({ organizationId, projectId, entry }) => ({
        ...entry,
        timestamp: new Date(entry.timestamp),
        organization_id: organizationId,
        project_id: projectId,
      }));
      const sealing = await sealingKey();
      const kindOfRow = await kinds.ensure(rows);
      const month = await db.transaction().execute(async (trx) => {
        const head = await trx.selectFrom('audit_log_head').selectAll().forUpdate().executeTakeFirstOrThrow();
        const times = [head.written_at, ...rows.map(({ timestamp }) => timestamp)].map(Number);
        const writtenAt = new Date(Math.max(...times));
        const monthOf = writtenAt.toISOString().slice(0, 7);
        if (!months.has(monthOf)) await sql`select add_audit_log_partition(${writtenAt})`.execute(trx);
        const sealed = sealRows(
          sealing,
          rows.map((row, index) => ({ ...row, written_at: writtenAt, kind: kindOfRow[index] ?? 0 })),
          head.seal,
        );
        await trx.insertInto('audit_log').values(sealed).execute();
        await trx
          .updateTable('audit_log_head')
          .set({ seal: sealed.at(-1)?.seal ?? null, written_at: writtenAt })
          .execute();
        return monthOf;
      });
      months.add(month);
    },
    page: async (scope, request) => {
      const { method, exclude_method, auth_strategy, service, search, search_user_id: users = [], limit } = request;
      const { token = 'page_token' } = request;
      const before = request.after === undefined ? null : readAuditToken(token, request, request.after);
      const narrowed = scope.projectId !== null || [method, exclude_method, auth_strategy, service].some(isGiven);
      const matching = narrowed ? await kinds.matching(scope, request) : null;
      if (matching?.length === 0) return { rows: [], next: null };
      const inScope = withinScope(scope, 'audit_log');
      const conditions = conditionsOf(request, before);
      const from = { matching, users, limit };
      const rows =
        search === undefined
          ? await readRows(db, newestOf([inScope, ...conditions], from))
          : await searchRows(db, inScope, conditions, foundBy(search, users), from);
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      return {
        rows: rows.slice(0, limit).map(present),
        next: last === undefined ? null : writeAuditToken(token, request, last),
      };
    },
    verify: async () => {
      const sealing = await sealingKey();
      let previous: SealedRow | null = null;
      let count = 0;
      for (;;) {
        const rows: SealedRow[] = await db
          .selectFrom('audit_log')
          .selectAll()
          .where('seq', '>', previous?.seq ?? 0)
          .orderBy('seq')
          .limit(ROWS_A_LOOK)
          .execute();
        const broken = findBrokenSeal(sealing, rows, previous);
        if (broken !== null) return { rows: count, broken };
        for (const row of rows)
          if (row.written_at < row.timestamp || !(await kinds.isOf(row)))
            return { rows: count, broken: { seq: row.seq, fault: 'changed' } };
        count += rows.length;
        previous = rows.at(-1) ?? null;
        if (previous === null || rows.length < ROWS_A_LOOK) return { rows: count, broken: null };
      }
    },
  };
}

/** What the index of searches holds, word for word. */
const SEARCHED = sql`lower(path || chr(10) || user_id || chr(10) || email || chr(10) || client_ip || chr(10) || status::text)`;

function conditionsOf({ start, end }: AuditLogRequest, before: AuditPosition | null): RawBuilder<SqlBool>[] {
  return [
    // A row is written after it was received: months before `start` are not looked at.
    ...(start === undefined ? [] : [sql<SqlBool>`timestamp >= ${start} and written_at >= ${start}`]),
    ...(end === undefined ? [] : [sql<SqlBool>`timestamp < ${end}`]),
    ...(before === null
      ? []
      : [sql<SqlBool>`(timestamp, seq) < (${before.timestamp}::timestamptz, ${before.seq}::bigint)`]),
  ];
}

/** Text alone is left to its index; beside users it is looked for row by row. */
function foundBy(search: string, users: string[]): RawBuilder<unknown> {
  const text = containsText(SEARCHED, search);
  return users.length === 0 ? text : sql`(${text} or user_id = any(${users}::text[]))`;
}

/** Which rows are looked at: of these kinds (null: of all), of these users, and how many are wanted. */
interface Lookup {
  matching: number[] | null;
  users: string[];
  limit: number;
}

/**
 * The newest rows of one of `matching` kinds (null: of all) that meet the conditions. Each user, else each kind, is looked
 * through by its own index, so that what is rare is found as fast as what is common.
 */
function newestOf(conditions: readonly RawBuilder<unknown>[], { matching, users, limit }: Lookup): RawBuilder<unknown> {
  if (users.length > 0) {
    const ofUser = [sql`user_id = lane.value`, sql`user_id <> ''`, ...ofKinds(matching)];
    const lanes = inLanes(sql`${users}::text[]`, [...conditions, ...ofUser], limit + 1);
    return sql`select * from (${lanes}) found order by timestamp desc, seq desc limit ${limit + 1}`;
  }
  if (matching === null) return newest(conditions, limit + 1);
  const lanes = inLanes(sql`${matching}::int[]`, [...conditions, sql`kind = lane.value`], limit + 1);
  return sql`select * from (${lanes}) found order by timestamp desc, seq desc limit ${limit + 1}`;
}

/**
 * The newest rows that a search finds. Among few kinds: first those that are among the newest rows, for what is common fills its page
 * there; what is rare is then left to the index of searches. Left to choose, Postgres takes every search for a common one and reads
 * all rows of the kinds.
 */
async function searchRows(
  db: Db,
  inScope: RawBuilder<unknown>,
  conditions: readonly RawBuilder<unknown>[],
  isFound: RawBuilder<unknown>,
  { matching, limit }: Lookup,
): Promise<Row[]> {
  const found = [...conditions, isFound, ...ofKinds(matching)];
  // The index of searches would be asked for each kind.
  if (matching === null || matching.length > MOST_KINDS_SEARCHED)
    return readRows(db, newest([inScope, ...found], limit + 1));
  const share = Math.ceil(NEWEST_LOOKED_AT / matching.length);
  const lanes = inLanes(sql`${matching}::int[]`, [inScope, ...conditions, sql`kind = lane.value`], share);
  // What is older than the last that was looked at of one kind may be older than another of that kind.
  const among = sql`with looked_at as materialized (${lanes})
    select * from looked_at where ${isFound} and timestamp > coalesce((select max(oldest) from
      (select min(timestamp) as oldest from looked_at group by kind having count(*) = ${share}) cut_off), '-infinity')
    order by timestamp desc, seq desc limit ${limit + 1}`;
  const rows = await readRows(db, among);
  if (rows.length > limit) return rows;
  // Order and scope apart: by the order Postgres would take the index in that order, and a scope that the kinds imply has it expect
  // too few rows to ask the index of searches.
  return readRows(
    db,
    sql`with found as materialized
        (select * from audit_log where ${sql.join(found, sql` and `)})
      select * from found as audit_log where ${inScope} order by timestamp desc, seq desc limit ${limit + 1}`,
  );
}

const ofKinds = (matching: number[] | null): RawBuilder<unknown>[] =>
  matching === null ? [] : [sql`kind = any(${matching}::int[])`];

/** The newest `limit` rows for each of `lanes`, which conditions call `lane.value`. */
function inLanes(
  lanes: RawBuilder<unknown>,
  conditions: readonly RawBuilder<unknown>[],
  limit: number,
): RawBuilder<unknown> {
  return sql`select found.* from (select distinct unnest(${lanes}) as value) lane
    cross join lateral (${newest(conditions, limit)}) found`;
}

function newest(conditions: readonly RawBuilder<unknown>[], limit: number): RawBuilder<Row> {
  return sql<Row>`select * from audit_log where ${sql.join(conditions, sql` and `)}
    order by timestamp desc, seq desc limit ${limit}`;
}

async function readRows(db: Db, query: RawBuilder<unknown>): Promise<Row[]> {
  return (await sql<Row>`${query}`.execute(db)).rows;
}

function isGiven(filter: unknown): boolean {
  return filter !== undefined;
}

function present(row: Row): AuditLogEntry {
  const { seq: _seq, written_at: _written, kind: _kind, timestamp, ...rest } = row;
  const {
    organization_id: _organization,
    project_id: _project,
    previous_seal: _previous,
    seal: _seal,
    ...entry
  } = rest;
  return { ...entry, timestamp: timestamp.toISOString() };
}
