import { sql, type RawBuilder, type SqlBool } from 'kysely';

/**
 * Whose data a query may see. Every read and write of tenant data takes one, and {@link withinScope} is the one place
 * that turns it into SQL. `projectId: null` means every project of the organization.
 */
export interface Scope {
  organizationId: string;
  projectId: string | null;
}

/** A scope that names one project: what is needed to create something. */
export interface ProjectScope extends Scope {
  projectId: string;
}

/** One page of a list. `hasMore` tells whether rows follow after `offset + rows.length`. */
export interface Page<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** Where a page starts and how many rows it holds at most. */
export interface PageRequest {
  limit: number;
  offset: number;
}

/** Tables whose rows belong to a project (`project_id` may be null in `api_keys` and `audit_log` alone). */
export type TenantTable =
  | 'connections'
  | 'profiles'
  | 'credentials'
  | 'proxies'
  | 'extensions'
  | 'api_keys'
  | 'audit_log'
  | 'webhooks'
  | 'code_sources'
  | 'deployments'
  | 'app_versions'
  | 'invocations';

/** The condition that keeps a query within a scope. */
export function withinScope(scope: Scope, table: TenantTable): RawBuilder<SqlBool> {
  const organization = sql<SqlBool>`${sql.ref(`${table}.organization_id`)} = ${scope.organizationId}`;
  if (scope.projectId === null) return organization;
  return sql<SqlBool>`(${organization} and ${sql.ref(`${table}.project_id`)} = ${scope.projectId})`;
}

/** Makes a page of rows that were read with `limit + 1`: the one too many says that more follow. */
export function pageOf<Row>(rows: Row[], limit: number): Page<Row> {
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** A query that can be cut to a page; one of kysely's. */
interface CutToPage<Row> {
  limit(count: number): { offset(count: number): { execute(): Promise<Row[]> } };
}

/** Reads one page of an ordered query, each row as `present` makes it. */
export async function readPage<Row, Shown>(
  query: CutToPage<Row>,
  { limit, offset }: PageRequest,
  present: (row: Row) => Shown,
): Promise<Page<Shown>> {
  const rows = await query
    .limit(limit + 1)
    .offset(offset)
    .execute();
  return pageOf(rows.map(present), limit);
}

/** A query that can be narrowed to what is called by one word; one of kysely's. */
interface FoundByName<Row> {
  where(condition: RawBuilder<SqlBool>): {
    orderBy(column: RawBuilder<unknown>): { limit(count: number): { execute(): Promise<Row[]> } };
  };
}

/** The row that a path calls by id or by name. By id first: a row may be named like another's id; of several the oldest. */
export async function findByIdOrName<Row extends { id: string }>(
  query: FoundByName<Row>,
  idOrName: string,
): Promise<Row | undefined> {
  const rows = await query
    .where(sql<SqlBool>`(id = ${idOrName} or name = ${idOrName})`)
    .orderBy(sql`created_at`)
    .limit(2)
    .execute();
  return rows.find(({ id }) => id === idOrName) ?? rows[0];
}

/** The condition of a search over a list: a part of the column `search`, in any case, or the whole id. */
export function matchesSearch(query: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${containsText(sql.ref('search'), query)} or id = ${query})`;
}

/** The text that {@link containsText} looks through: lower case, one part a line. */
export function searchText(...parts: string[]): string {
  return parts.join('\n').toLowerCase();
}

/** True where `text` (lower case, as {@link searchText} makes it) holds `query` in any case; `%` and `_` are themselves. */
export function containsText(text: RawBuilder<unknown>, query: string): RawBuilder<SqlBool> {
  const escaped = query.toLowerCase().replaceAll(/[\\%_]/g, '\\$&');
  return sql<SqlBool>`${text} like ${`%${escaped}%`}`;
}
