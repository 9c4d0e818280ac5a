import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { containsText, withinScope, type Scope } from '../scope.ts';
import { beginningOf, eachOf, endOf, halvesOf, readDays, slicesOf, type Days } from './audit-log-days.ts';
import type { KindsLeft } from './audit-log-kinds.ts';
import type { AuditPosition } from './audit-log-token.ts';

/** A row of the audit log. */
export type AuditRow = Selectable<Database['audit_log']>;

/** Which rows are looked for. */
export interface AuditLookup {
  scope: Scope;
  /** The kinds that scope and filters leave; null where the scope is a whole organization, and all of it is left. */
  kinds: KindsLeft | null;
  /** Received at this time or later. */
  start?: Date | undefined;
  /** Received before this time. */
  end?: Date | undefined;
  /** Older than the row here. */
  before: AuditPosition | null;
  /** Part of the path, user id, e-mail, client address or status. */
  search?: string | undefined;
  /** Users whose rows are found; beside `search`, whether these hold it or not. */
  users: string[];
  /** Most rows. */
  limit: number;
}

/** How many of the newest rows are looked at before the index of lookups is asked. */
const NEWEST_LOOKED_AT = 2000;
/** Most kinds that are looked through one by one. */
const MOST_LANES = 24;
/** Where more rows than this are found in some days, they are looked for in fewer days. */
const MOST_FOUND = 2000;

const SEARCHED = sql`lower(path || chr(10) || user_id || chr(10) || email || chr(10) || client_ip || chr(10) || status::text)`;
/** What the index of lookups holds, word for word: labels, and the text with a letter for each sign. */
const INDEXED_LABELS = sql`array[
  'day ' || organization_id || ' ' || ((timestamp at time zone 'UTC')::date - date '1970-01-01')::text,
  'user ' || user_id,
  'project ' || coalesce(project_id, ''),
  'method ' || method,
  'strategy ' || auth_strategy,
  'service ' || case when path ~ '^/(browsers|browser_pools)(/|$)' then 'browser' else 'api' end]`;
const SIGNS = './-_@:';
const LETTERS = 'qzxjwv';
const INDEXED_TEXT = sql`translate(${SEARCHED}, ${sql.lit(SIGNS)}, ${sql.lit(LETTERS)})`;

/**
 * The newest rows that are looked for. What is common is among the newest of its kinds. What is not is looked for day by day, the newest
 * first, in the index of lookups: no more is read than it takes to find the rows, whatever rows others have.
 */
export async function lookUpRows(db: Db, lookup: AuditLookup): Promise<AuditRow[]> {
  const { kinds, search, users, limit } = lookup;
  if (kinds?.ids.length === 0) return [];
  const ways = [
    ...(search === undefined ? [] : [containsText(SEARCHED, search)]),
    ...(users.length === 0 ? [] : [sql`user_id = any(${users}::text[])`]),
  ];
  if (ways.length === 0 && kinds === null) return readRows(db, newest(conditionsOf(lookup), limit));
  if (ways.length === 0 && isFew(kinds)) return readRows(db, newestOfKinds(lookup, kinds.ids));
  const isFound = ways.length === 0 ? sql`true` : sql`(${sql.join(ways, sql` or `)})`;
  const among = await amongNewest(db, lookup, isFound);
  if (among.isEnough) return among.rows;
  if (ways.length === 0) return readRows(db, newestOfKinds(lookup, kinds?.ids ?? []));

  const days = await readDays(db, conditionsOf({ ...lookup, scope: organizationOf(lookup.scope) }));
  if (days === null) return [];
  const indexed = [
    ...(search === undefined ? [] : [indexedText(search)]),
    ...(users.length === 0 ? [] : [isLabelled(users.map((user) => `user ${user}`))]),
  ];
  const found = new Map<number, AuditRow>();
  for (const way of indexed) for (const row of await inDays(db, lookup, days, way)) found.set(row.seq, row);
  return [...found.values()]
    .toSorted((one, other) => Number(other.timestamp) - Number(one.timestamp) || other.seq - one.seq)
    .slice(0, limit);
}

/** Letters stand for several signs, so the text itself has the last word. */
function indexedText(search: string): RawBuilder<unknown> {
  const letters = search.toLowerCase().replaceAll(/[./\-_@:]/g, (sign) => LETTERS[SIGNS.indexOf(sign)] ?? sign);
  return sql`${containsText(INDEXED_TEXT, letters)} and ${containsText(SEARCHED, search)}`;
}

function isLabelled(oneOf: readonly string[]): RawBuilder<unknown> {
  return sql`${INDEXED_LABELS} && ${oneOf}::text[]`;
}

function conditionsOf(lookup: AuditLookup): RawBuilder<unknown>[] {
  return [withinScope(lookup.scope, 'audit_log'), ...ofTime(lookup)];
}

function ofTime({ start, end, before }: AuditLookup): RawBuilder<unknown>[] {
  return [
    // A row is written after it was received: months before `start` are not looked at.
    ...(start === undefined ? [] : [sql`timestamp >= ${start} and written_at >= ${start}`]),
    ...(end === undefined ? [] : [sql`timestamp < ${end}`]),
    ...(before === null ? [] : [sql`(timestamp, seq) < (${before.timestamp}::timestamptz, ${before.seq}::bigint)`]),
  ];
}

function isFew(kinds: KindsLeft | null): kinds is KindsLeft {
  return kinds !== null && kinds.ids.length <= MOST_LANES;
}

function organizationOf(scope: Scope): Scope {
  return { ...scope, projectId: null };
}

const ofKinds = (kinds: KindsLeft | null): RawBuilder<unknown>[] =>
  kinds === null ? [] : [sql`kind = any(${kinds.ids}::int[])`];

function newestOfKinds(lookup: AuditLookup, kinds: number[]): RawBuilder<unknown> {
  const inScope = withinScope(lookup.scope, 'audit_log');
  return inOrder(sql`(${inLanes(lookup, kinds, lookup.limit)}) audit_log where ${inScope}`, lookup.limit);
}

/**
 * The newest rows of each kind. Each is looked through by itself, so that what is rare is found as fast as what is common. The scope is
 * left to the caller: kinds imply it, and Postgres would expect fewer rows than there are, and read all of them to put them in order.
 */
function inLanes(lookup: AuditLookup, kinds: number[], limit: number): RawBuilder<unknown> {
  return sql`select found.* from unnest(${kinds}::int[]) as lane(kind)
    cross join lateral (${newest([...ofTime(lookup), sql`audit_log.kind = lane.kind`], limit)}) found`;
}

/** Those of the newest rows that are found: enough where they fill a page, or where no other rows are left to look at. */
async function amongNewest(
  db: Db,
  lookup: AuditLookup,
  isFound: RawBuilder<unknown>,
): Promise<{ rows: AuditRow[]; isEnough: boolean }> {
  const { kinds, scope, limit } = lookup;
  const few = isFew(kinds) ? kinds.ids : null;
  const share = Math.ceil(NEWEST_LOOKED_AT / (few?.length ?? 1));
  const lookedAt =
    few === null
      ? newest(conditionsOf({ ...lookup, scope: organizationOf(scope) }), share)
      : inLanes(lookup, few, share);
  const conditions = [isFound, withinScope(scope, 'audit_log'), ...ofKinds(kinds)];
  // What is older than the last row that was looked at of one kind may be older than another row of that kind.
  const { rows } = await sql<{ is_all: boolean } & (AuditRow | { seq: null })>`
    with audit_log as materialized (${lookedAt}),
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
  return { rows: found, isEnough: found.length >= limit || rows[0]?.is_all === true };
}

async function inDays(db: Db, lookup: AuditLookup, days: Days, indexed: RawBuilder<unknown>): Promise<AuditRow[]> {
  const rows: AuditRow[] = [];
  for (const slice of slicesOf(days)) {
    rows.push(...(await inSlice(db, lookup, slice, indexed)));
    if (rows.length >= lookup.limit) break;
  }
  return rows;
}

async function inSlice(db: Db, lookup: AuditLookup, days: Days, indexed: RawBuilder<unknown>): Promise<AuditRow[]> {
  const rows = await byIndex(db, lookup, days, indexed);
  if (rows !== null) return rows;
  if (days.first === days.last) return inDay(db, lookup, days, indexed);
  const [newer, older] = halvesOf(days);
  const first = await inSlice(db, lookup, newer, indexed);
  return first.length >= lookup.limit ? first : [...first, ...(await inSlice(db, lookup, older, indexed))];
}

/** By the index of lookups, in the order of the table; null where that would be very many. */
async function byIndex(
  db: Db,
  lookup: AuditLookup,
  days: Days,
  indexed: RawBuilder<unknown>,
): Promise<AuditRow[] | null> {
  const { scope, kinds, limit } = lookup;
  const asked = [
    isLabelled(eachOf(days).map((day) => `day ${scope.organizationId} ${day}`)),
    ...(kinds?.labels ?? []).map(isLabelled),
    indexed,
    sql`written_at >= ${beginningOf(days)}`,
  ];
  // All other conditions apart: by these Postgres would take other indexes, which hold more rows of these days.
  const { rows } = await sql<{ is_cut: boolean } & (AuditRow | { seq: null })>`
    with found as materialized (select * from audit_log where ${sql.join(asked, sql` and `)}),
      audit_log as materialized (select * from found limit ${MOST_FOUND}),
      page as (${inOrder(
        sql`audit_log where ${sql.join([...conditionsOf(lookup), ...ofKinds(kinds)], sql` and `)}`,
        limit,
      )})
    select page.*, (select count(*) from audit_log) >= ${MOST_FOUND} as is_cut from (select) always left join page on true
    order by timestamp desc, seq desc`.execute(db);
  if (rows[0]?.is_cut === true) return null;
  return rows.flatMap(({ is_cut: _isCut, ...row }) => (row.seq === null ? [] : [row]));
}

/** By what Postgres takes: of one day all rows may be read. */
async function inDay(db: Db, lookup: AuditLookup, day: Days, indexed: RawBuilder<unknown>): Promise<AuditRow[]> {
  const ofDay = sql`timestamp >= ${beginningOf(day)} and timestamp < ${endOf(day)} and written_at >= ${beginningOf(day)}`;
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
