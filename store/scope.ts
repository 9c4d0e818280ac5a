import { sql, type DeleteResult, type InsertResult, type RawBuilder, type SqlBool, type UpdateResult } from 'kysely';

/**
 * The data that a query may see. Every read and write of tenant data takes one, and {@link withinScope} is the only place
 * that turns it into SQL. `projectId: null` means every project of the organization.
 */
export interface Scope {
  organizationId: string;
  projectId: string | null;
}

/** A scope limited to one project; required to create something. */
export interface ProjectScope extends Scope {
  projectId: string;
}

/** One page of a list. `hasMore` is true if rows follow after `offset + rows.length`. */
export interface Page<Row> {
  rows: Row[];
  hasMore: boolean;
}

/** Where a page starts, and the maximum number of rows. */
export interface PageRequest {
  limit: number;
  offset: number;
}

/** Tables whose rows belong to a project (`project_id` may be null only in `api_keys` and `audit_log`). */
type TenantTable =
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

/** The condition that limits a query to a scope. */
export function withinScope(scope: Scope, table: TenantTable): RawBuilder<SqlBool> {
  const organization = sql<SqlBool>`${sql.ref(`${table}.organization_id`)} = ${scope.organizationId}`;
  if (scope.projectId === null) return organization;
  return sql<SqlBool>`(${organization} and ${sql.ref(`${table}.project_id`)} = ${scope.projectId})`;
}

/** The columns that place a new row in a project. */
export function ownerColumns({ organizationId, projectId }: ProjectScope) {
  return { organization_id: organizationId, project_id: projectId };
}

/** Reads the first row of a query. Null if there is none. */
export async function findOne<Row, Item>(
  query: { executeTakeFirst(): Promise<Row | undefined> },
  present: (row: Row) => Item,
): Promise<Item | null> {
  const row = await query.executeTakeFirst();
  return row === undefined ? null : present(row);
}

/** Executes a write. True if it affected a row. */
export async function affectsRow(query: {
  executeTakeFirst(): Promise<DeleteResult | InsertResult | UpdateResult>;
}): Promise<boolean> {
  const result = await query.executeTakeFirst();
  if ('numDeletedRows' in result) return result.numDeletedRows > 0n;
  return ('numUpdatedRows' in result ? result.numUpdatedRows : (result.numInsertedOrUpdatedRows ?? 0n)) > 0n;
}

/** The ids that a query selects, in its order. */
export async function readIds(query: { execute(): Promise<{ id: string }[]> }): Promise<string[]> {
  return (await query.execute()).map(({ id }) => id);
}

/** Makes a page of rows that were read with `limit + 1`: the extra row means that more follow. */
export function pageOf<Row>(rows: Row[], limit: number): Page<Row> {
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

interface PageableQuery<Row> {
  limit(count: number): { offset(count: number): { execute(): Promise<Row[]> } };
}

/** Reads one page of an ordered query. */
export async function readPage<Row, Item>(
  query: PageableQuery<Row>,
  { limit, offset }: PageRequest,
  present: (row: Row) => Item,
): Promise<Page<Item>> {
  const rows = await query
    .limit(limit + 1)
    .offset(offset)
    .execute();
  return pageOf(rows.map(present), limit);
}

interface SortableQuery<Row> {
  orderBy(
    column: RawBuilder<unknown>,
    direction: 'desc',
  ): {
    orderBy(column: RawBuilder<unknown>, direction: 'desc'): PageableQuery<Row>;
  };
}

/** Reads one page of a query over a single table, newest first. */
export function readNewest<Row, Item>(
  query: SortableQuery<Row>,
  page: PageRequest,
  present: (row: Row) => Item,
): Promise<Page<Item>> {
  return readPage(query.orderBy(sql.ref('created_at'), 'desc').orderBy(sql.ref('id'), 'desc'), page, present);
}

interface FilterableQuery<Row> {
  where(condition: RawBuilder<SqlBool>): {
    orderBy(column: RawBuilder<unknown>): { limit(count: number): { execute(): Promise<Row[]> } };
  };
}

/** Finds a row by id or name. The id wins, because a row may be named like another row's id; of equal names the oldest wins. */
export async function findByIdOrName<Row extends { id: string }>(
  query: FilterableQuery<Row>,
  idOrName: string,
): Promise<Row | undefined> {
  const rows = await query
    .where(sql<SqlBool>`(id = ${idOrName} or name = ${idOrName})`)
    .orderBy(sql`created_at`)
    .limit(2)
    .execute();
  return rows.find(({ id }) => id === idOrName) ?? rows[0];
}

/** The search condition of a list: a case-insensitive part of the column `search`, or the whole id. True for no query. */
export function matchesSearch(query: string | undefined): RawBuilder<SqlBool> {
  if (query === undefined) return sql<SqlBool>`true`;
  return sql<SqlBool>`(${containsText(sql.ref('search'), query)} or id = ${query})`;
}

/** The text that {@link containsText} searches: lower case, one part per line. */
export function searchText(...parts: string[]): string {
  return parts.join('\n').toLowerCase();
}

/** True if `text` (lower case, see {@link searchText}) contains `query` in any case, with `%` and `_` taken literally; true for no query. */
export function containsText(text: RawBuilder<unknown>, query: string | undefined): RawBuilder<SqlBool> {
  if (query === undefined) return sql<SqlBool>`true`;
  const escaped = query.toLowerCase().replaceAll(/[\\%_]/g, '\\$&');
  return sql<SqlBool>`${text} like ${`%${escaped}%`}`;
}
