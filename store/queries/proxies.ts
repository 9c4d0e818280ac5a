import { sql, type Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import type { ProxyProtocol, ProxyStatus } from '../../contract/proxies.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  findOne,
  matchesSearch,
  ownerColumns,
  readNewest,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';
import { withActiveProject } from './projects.ts';

/** The address of a proxy, and how to connect to it. */
interface ProxyEndpoint {
  id: string;
  name: string | null;
  protocol: ProxyProtocol;
  host: string;
  port: number;
  username: string | null;
  hasPassword: boolean;
  bypassHosts: string[];
}

/** A proxy without its password. */
export interface ProxyRecord extends ProxyEndpoint {
  projectId: string;
  /** The result of the last check; null before the first. */
  status: ProxyStatus | null;
  lastCheckedAt: Date | null;
  createdAt: Date;
}

/** A proxy with its password. Only for code that connects through it; never log it or return it to a caller. */
export interface OpenedProxy extends ProxyEndpoint {
  password: string | null;
}

/** The result of resolving a reference. Names are not unique, so it may match several proxies. */
type ProxyMatch<Found> = { outcome: 'found'; proxy: Found } | { outcome: 'none' | 'ambiguous' };

/** Proxies. The password is sealed and write-only; a deleted proxy keeps its row without the password. */
export interface ProxyQueries {
  create(
    scope: ProjectScope,
    input: {
      name: string | null;
      protocol: ProxyProtocol;
      host: string;
      port: number;
      username: string | null;
      password: string | null;
      bypassHosts: string[];
    },
  ): Promise<ProxyRecord>;
  find(scope: Scope, id: string): Promise<ProxyRecord | null>;
  /** Newest first. `name`: the exact name; `query`: a case-insensitive part of the name or host, or the whole id. */
  list(scope: Scope, filter: PageRequest & { name?: string; query?: string }): Promise<Page<ProxyRecord>>;
  /** Null if there is no such proxy. */
  rename(scope: Scope, id: string, name: string): Promise<ProxyRecord | null>;
  /** Records the result of a check. Null if there is no such proxy. */
  recordCheck(scope: Scope, id: string, status: ProxyStatus): Promise<ProxyRecord | null>;
  /** Destroys the password and hides the proxy. False if there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /** Resolves a reference to a proxy of the project. */
  match(projectId: string, ref: { id: string } | { name: string }): Promise<ProxyMatch<ProxyRecord>>;
  /** The same, with the password. */
  open(projectId: string, ref: { id: string } | { name: string }): Promise<ProxyMatch<OpenedProxy>>;
}

type Row = Selectable<Database['proxies']>;

function passwordPlace(id: string): SealedPlace {
  return { table: 'proxies', column: 'sealed_password', rowId: id };
}

/** Queries of proxies. */
export function createProxyQueries(db: Db, vault: Vault, clock: () => Date): ProxyQueries {
  const inScope = (scope: Scope) =>
    db.selectFrom('proxies').selectAll().where(withinScope(scope, 'proxies')).where('deleted_at', 'is', null);

  const update = (scope: Scope, id: string) =>
    db.updateTable('proxies').where(withinScope(scope, 'proxies')).where('id', '=', id).where('deleted_at', 'is', null);

  const resolve = async <Found>(
    projectId: string,
    ref: { id: string } | { name: string },
    read: (row: Row) => Found | Promise<Found>,
  ): Promise<ProxyMatch<Found>> => {
    const [row, other] = await db
      .selectFrom('proxies')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('deleted_at', 'is', null)
      .where((eb) => ('id' in ref ? eb('id', '=', ref.id) : eb('name', '=', ref.name)))
      .limit(2)
      .execute();
    if (row === undefined) return { outcome: 'none' };
    return other === undefined ? { outcome: 'found', proxy: await read(row) } : { outcome: 'ambiguous' };
  };

  const openPassword = (row: Row): Promise<string | null> =>
    vault.openText(db, row.organization_id, passwordPlace(row.id), row.sealed_password);

  return {
    create: async (scope, { password, bypassHosts, ...input }) => {
      const id = newId('prx');
      const row = await withActiveProject(db, scope.projectId, async (trx) =>
        trx
          .insertInto('proxies')
          .values({
            id,
            ...ownerColumns(scope),
            ...input,
            sealed_password:
              password === null ? null : await vault.sealJson(trx, scope.organizationId, passwordPlace(id), password),
            bypass_hosts: bypassHosts,
            status: null,
            last_checked_at: null,
            search: searchText(input.name ?? '', input.host),
            created_at: clock(),
            deleted_at: null,
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return present(row);
    },
    find: (scope, id) => findOne(inScope(scope).where('id', '=', id), present),
    list: (scope, { limit, offset, query, ...filter }) =>
      readNewest(
        inScope(scope)
          .where((eb) => eb.and(filter))
          .where(matchesSearch(query)),
        { limit, offset },
        present,
      ),
    rename: (scope, id, name) =>
      findOne(
        update(scope, id)
          .set({ name, search: sql<string>`${searchText(name, '')} || host` })
          .returningAll(),
        present,
      ),
    recordCheck: (scope, id, status) =>
      findOne(update(scope, id).set({ status, last_checked_at: clock() }).returningAll(), present),
    remove: (scope, id) => affectsRow(update(scope, id).set({ sealed_password: null, deleted_at: clock() })),
    match: (projectId, ref) => resolve(projectId, ref, present),
    open: (projectId, ref) =>
      resolve(projectId, ref, async (row) => ({ ...present(row), password: await openPassword(row) })),
  };
}

function present(row: Row): ProxyRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    protocol: row.protocol,
    host: row.host,
    port: row.port,
    username: row.username,
    hasPassword: row.sealed_password !== null,
    bypassHosts: row.bypass_hosts,
    status: row.status,
    lastCheckedAt: row.last_checked_at,
    createdAt: row.created_at,
  };
}
