import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { containsText, withinScope, type Scope } from '../scope.ts';
import { startOf, listDays, endOf, splitDays, readDays, sliceDays, type Days } from './audit-log-days.ts';
import type { MatchingKinds } from './audit-log-kinds.ts';
import type { AuditPosition } from './audit-log-token.ts';

/** A row of the audit log. */
export type AuditRow = Selectable<Database['audit_log']>;

/** A search of the audit log. */
export interface AuditLookup {
  scope: Scope;
  /** The kinds that match scope and filters; null for a whole organization without filters. */
  kinds: MatchingKinds | null;
  /** Inclusive. */
  start?: Date | undefined;
  /** Exclusive. */
  end?: Date | undefined;
  /** Only rows older than this position. */
  before: AuditPosition | null;
  /** A part of the path, user id, email, client address or status. */
  search?: string | undefined;
  /** Users whose rows match too, whether or not they match `search`. */
  users: string[];
  limit: number;
}

/** How many of the newest rows are scanned before the lookup index is used. */
const NEWEST_SCANNED = 2000;
/** Maximum number of kinds that are scanned one by one. */
const MAX_KIND_SCANS = 24;
/** If the index finds more rows than this in some days, fewer days are searched. */
const MAX_INDEX_MATCHES = 2000;

const SEARCH_TEXT = sql`lower(path || chr(10) || user_id || chr(10) || email || chr(10) || client_ip || chr(10) || status::text)`;
/** The expressions of the lookup index, verbatim: labels, and the text with punctuation replaced by letters. */
const INDEXED_LABELS = sql`array[
  'day ' || organization_id || ' ' || ((timestamp at time zone 'UTC')::date - date '1970-01-01')::text,
  'user ' || user_id,
  'project ' || coalesce(project_id, ''),
  'method ' || method,
  'strategy ' || auth_strategy,
  'service ' || case when path ~ '^/(browsers|browser_pools)(/|$)' then 'browser' else 'api' end]`;
const PUNCTUATION = './-_@:';
const SUBSTITUTES = 'qzxjwv';
const INDEXED_SEARCH_TEXT = sql`translate(${SEARCH_TEXT}, ${sql.lit(PUNCTUATION)}, ${sql.lit(SUBSTITUTES)})`;

/**
 * The newest matching rows. Common rows are found among the newest of their kinds. Rare rows are searched day by day, newest
 * first, in the lookup index. So the cost does not depend on the rows of other organizations.
 */
export async function searchAuditLog(db: Db, lookup: AuditLookup): Promise<AuditRow[]> {
  const { kinds, search, users, limit } = lookup;
  if (kinds?.ids.length === 0) return [];
  const alternatives = [
    ...(search === undefined ? [] : [containsText(SEARCH_TEXT, search)]),
    ...(users.length === 0 ? [] : [sql`user_id = any(${users}::text[])`]),
  ];
  if (alternatives.length === 0 && kinds === null) return readRows(db, newest(conditionsOf(lookup), limit));
  if (alternatives.length === 0 && isFew(kinds)) return readRows(db, newestOfKinds(lookup, kinds.ids));
  const matches = alternatives.length === 0 ? sql`true` : sql`(${sql.join(alternatives, sql` or `)})`;
  const among = await scanNewest(db, lookup, matches);
  if (among.isComplete) return among.rows;
  if (alternatives.length === 0) return readRows(db, newestOfKinds(lookup, kinds?.ids ?? []));

  const days = await readDays(db, conditionsOf({ ...lookup, scope: organizationOf(lookup.scope) }));
  if (days === null) return [];
  const indexed = [
    ...(search === undefined ? [] : [matchesIndexedText(search)]),
    ...(users.length === 0 ? [] : [hasLabel(users.map((user) => `user ${user}`))]),
  ];
  const found = new Map<number, AuditRow>();
  for (const condition of indexed)
    for (const row of await searchDays(db, lookup, days, condition)) found.set(row.seq, row);
  return [...found.values()]
    .toSorted((one, other) => Number(other.timestamp) - Number(one.timestamp) || other.seq - one.seq)
    .slice(0, limit);
}

/** A substitute may also be a literal letter, so the text itself is compared as well. */
function matchesIndexedText(search: string): RawBuilder<unknown> {
  const letters = search
    .toLowerCase()
    .replaceAll(/[./\-_@:]/g, (sign) => SUBSTITUTES[PUNCTUATION.indexOf(sign)] ?? sign);
  return sql`${containsText(INDEXED_SEARCH_TEXT, letters)} and ${containsText(SEARCH_TEXT, search)}`;
}

function hasLabel(oneOf: readonly string[]): RawBuilder<unknown> {
  return sql`${INDEXED_LABELS} && ${oneOf}::text[]`;
}

function conditionsOf(lookup: AuditLookup): RawBuilder<unknown>[] {
  return [withinScope(lookup.scope, 'audit_log'), ...withinTime(lookup)];
}

function withinTime({ start, end, before }: AuditLookup): RawBuilder<unknown>[] {
  return [
    // A row is written after it was received: partitions of months before `start` are skipped.
    ...(start === undefined ? [] : [sql`timestamp >= ${start} and written_at >= ${start}`]),
    ...(end === undefined ? [] : [sql`timestamp < ${end}`]),
    ...(before === null ? [] : [sql`(timestamp, seq) < (${before.timestamp}::timestamptz, ${before.seq}::bigint)`]),
  ];
}

function isFew(kinds: MatchingKinds | null): kinds is MatchingKinds {
  return kinds !== null && kinds.ids.length <= MAX_KIND_SCANS;
}

function organizationOf(scope: Scope): Scope {
  return { ...scope, projectId: null };
}

const ofKinds = (kinds: MatchingKinds | null): RawBuilder<unknown>[] =>
  kinds === null ? [] : [sql`kind = any(${kinds.ids}::int[])`];

function newestOfKinds(lookup: AuditLookup, kinds: number[]): RawBuilder<unknown> {
  const inScope = withinScope(lookup.scope, 'audit_log');
  return inOrder(sql`(${newestPerKind(lookup, kinds, lookup.limit)}) audit_log where ${inScope}`, lookup.limit);
}

/**
 * The newest rows of each kind, scanned separately, so that rare kinds are found as fast as common ones. The caller adds the
 * scope: kinds imply it, and with it Postgres would underestimate the rows, and read and sort all of them.
 */
function newestPerKind(lookup: AuditLookup, kinds: number[], limit: number): RawBuilder<unknown> {
  return sql`select found.* from unnest(${kinds}::int[]) as lane(kind)
    cross join lateral (${newest([...withinTime(lookup), sql`audit_log.kind = lane.kind`], limit)}) found`;
}

/** Matches among the newest rows. Complete if they fill a page, or if there are no further rows. */
async function scanNewest(
  db: Db,
  lookup: AuditLookup,
  matches: RawBuilder<unknown>,
): Promise<{ rows: AuditRow[]; isComplete: boolean }> {
  const { kinds, scope, limit } = lookup;
  const few = isFew(kinds) ? kinds.ids : null;
  const share = Math.ceil(NEWEST_SCANNED / (few?.length ?? 1));
  const scanned =
    few === null
      ? newest(conditionsOf({ ...lookup, scope: organizationOf(scope) }), share)
      : newestPerKind(lookup, few, share);
  const conditions = [matches, withinScope(scope, 'audit_log'), ...ofKinds(kinds)];
  // Rows older than the last scanned row of a kind may be older than unscanned rows of that kind.
  const { rows } = await sql<{ is_all: boolean } & (AuditRow | { seq: null })>`
    with audit_log as materialized (${scanned}),
      ends as (select min(timestamp) as oldest from audit_log
        group by ${few === null ? sql`()` : sql`kind`} having count(*) >= ${share}),
      found as (${inOrder(
        sql`audit_log where ${sql.join(conditions, sql` and `)}
          and timestamp > coalesce((select max(oldest) from ends), '-infinity')`,
        limit,
      )})
    select found.*, not exists (select from ends) as is_all from (select) always left join found on true
    order by timestamp desc, seq desc`.execute(db);
  const found = rows.flatMap(({ is_all: _isAll, ...row }) => (row.seq === null ? [] : [row]));
  return { rows: found, isComplete: found.length >= limit || rows[0]?.is_all === true };
}

async function searchDays(db: Db, lookup: AuditLookup, days: Days, indexed: RawBuilder<unknown>): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (const slice of sliceDays(days)) {
    rows.push(...(await searchSlice(db, lookup, slice, indexed)));
    if (rows.length >= lookup.limit) break;
  }
  return rows;
}

async function searchSlice(db: Db, lookup: AuditLookup, days: Days, indexed: RawBuilder<unknown>): Promise<AuditRow[]> {
  const rows = await searchIndex(db, lookup, days, indexed);
  if (rows !== null) return rows;
  if (days.first === days.last) return searchDay(db, lookup, days, indexed);
  const [newer, older] = splitDays(days);
  const first = await searchSlice(db, lookup, newer, indexed);
  return first.length >= lookup.limit ? first : [...first, ...(await searchSlice(db, lookup, older, indexed))];
}

/** Searches the lookup index, in table order; null if it finds too many rows. */
async function searchIndex(
  db: Db,
  lookup: AuditLookup,
  days: Days,
  indexed: RawBuilder<unknown>,
): Promise<AuditRow[] | null> {
  const { scope, kinds, limit } = lookup;
  const conditions = [
    hasLabel(listDays(days).map((day) => `day ${scope.organizationId} ${day}`)),
    ...(kinds?.labels ?? []).map(hasLabel),
    indexed,
    sql`written_at >= ${startOf(days)}`,
  ];
  // The other conditions are applied afterwards: with them Postgres would choose other indexes, which read more rows.
  const { rows } = await sql<{ is_cut: boolean } & (AuditRow | { seq: null })>`
    with found as materialized (select * from audit_log where ${sql.join(conditions, sql` and `)}),
      audit_log as materialized (select * from found limit ${MAX_INDEX_MATCHES}),
      page as (${inOrder(
        sql`audit_log where ${sql.join([...conditionsOf(lookup), ...ofKinds(kinds)], sql` and `)}`,
        limit,
      )})
    select page.*, (select count(*) from audit_log) >= ${MAX_INDEX_MATCHES} as is_cut from (select) always left join page on true
    order by timestamp desc, seq desc`.execute(db);
  if (rows[0]?.is_cut === true) return null;
  return rows.flatMap(({ is_cut: _isCut, ...row }) => (row.seq === null ? [] : [row]));
}

/** With the index that Postgres chooses: all rows of a single day may be read. */
async function searchDay(db: Db, lookup: AuditLookup, day: Days, indexed: RawBuilder<unknown>): Promise<AuditRow[]> {
  const ofDay = sql`timestamp >= ${startOf(day)} and timestamp < ${endOf(day)} and written_at >= ${startOf(day)}`;
  return readRows(db, newest([...conditionsOf(lookup), ofDay, indexed, ...ofKinds(lookup.kinds)], lookup.limit));
}

function newest(conditions: readonly RawBuilder<unknown>[], limit: number): RawBuilder<unknown> {
  return inOrder(sql`audit_log where ${sql.join(conditions, sql` and `)}`, limit);
}

function inOrder(from: RawBuilder<unknown>, limit: number): RawBuilder<unknown> {
  return sql`select * from ${from} order by timestamp desc, seq desc limit ${limit}`;
}

async function readRows(db: Db, query: RawBuilder<unknown>): Promise<AuditRow[]> {
  return (await sql<AuditRow>`${query}`.execute(db)).rows;
}
