import { sql, type Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import type { ProxyProtocol, ProxyStatus } from '../../contract/proxies.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  matchesSearch,
  readPage,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';
import { whileActive } from './projects.ts';

/** Where a proxy is and how it is spoken to. */
export interface ProxyFacts {
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
export interface ProxyRecord extends ProxyFacts {
  projectId: string;
  /** What the last check found; null before the first. */
  status: ProxyStatus | null;
  lastCheckedAt: Date | null;
  createdAt: Date;
}

/** A proxy with its password. For who connects through it alone; never log, never answer. */
export interface OpenedProxy extends ProxyFacts {
  password: string | null;
}

/** What a reference leads to: names are not unique, so it may be more than one. */
export type ProxyMatch<Found> = { outcome: 'found'; proxy: Found } | { outcome: 'none' | 'ambiguous' };

/** Proxies: the password is sealed and write-only; deleted ones keep a row without it. */
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
  /** Newest first. `name`: the whole name; `query`: a part of name or host in any case, or the whole id. */
  list(scope: Scope, filter: PageRequest & { name?: string; query?: string }): Promise<Page<ProxyRecord>>;
  /** Null when there is no such proxy. */
  rename(scope: Scope, id: string, name: string): Promise<ProxyRecord | null>;
  /** Keeps what a check found. Null when there is no such proxy. */
  recordCheck(scope: Scope, id: string, status: ProxyStatus): Promise<ProxyRecord | null>;
  /** Destroys the password and hides the proxy. False when there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /** The proxy of a project that a reference means. */
  match(projectId: string, ref: { id: string } | { name: string }): Promise<ProxyMatch<ProxyRecord>>;
  /** The same, opened. */
  open(projectId: string, ref: { id: string } | { name: string }): Promise<ProxyMatch<OpenedProxy>>;
}

type Row = Selectable<Database['proxies']>;

/** Where a proxy's password lives. */
export function proxyPasswordPlace(id: string): SealedPlace {
  return { table: 'proxies', column: 'sealed_password', rowId: id };
}

/** Queries of proxies. */
export function createProxyQueries(db: Db, vault: Vault, clock: () => Date): ProxyQueries {
  const inScope = (scope: Scope) =>
    db.selectFrom('proxies').selectAll().where(withinScope(scope, 'proxies')).where('deleted_at', 'is', null);

  const update = (scope: Scope, id: string) =>
    db
      .updateTable('proxies')
      .where(withinScope(scope, 'proxies'))
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .returningAll();

  const meant = async <Found>(
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

  const openPassword = async (row: Row): Promise<string | null> => {
    if (row.sealed_password === null) return null;
    const opened = await vault.openJson(db, row.organization_id, proxyPasswordPlace(row.id), row.sealed_password);
    return typeof opened === 'string' ? opened : null;
  };

  return {
    create: async (scope, { password, bypassHosts, ...input }) => {
      const id = newId('prx');
      const row = await whileActive(db, scope.projectId, async (trx) =>
        trx
          .insertInto('proxies')
          .values({
            id,
            organization_id: scope.organizationId,
            project_id: scope.projectId,
            ...input,
            sealed_password:
              password === null
                ? null
                : await vault.sealJson(trx, scope.organizationId, proxyPasswordPlace(id), password),
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
    find: async (scope, id) => {
      const row = await inScope(scope).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    list: (scope, { name, query, ...page }) => {
      const ordered = inScope(scope)
        .$if(name !== undefined, (q) => q.where('name', '=', name ?? ''))
        .$if(query !== undefined, (q) => q.where(matchesSearch(query ?? '')))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    rename: async (scope, id, name) => {
      const row = await update(scope, id)
        .set({ name, search: sql<string>`${searchText(name, '')} || host` })
        .executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    recordCheck: async (scope, id, status) => {
      const row = await update(scope, id).set({ status, last_checked_at: clock() }).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    remove: async (scope, id) => {
      const row = await update(scope, id).set({ sealed_password: null, deleted_at: clock() }).executeTakeFirst();
      return row !== undefined;
    },
    match: (projectId, ref) => meant(projectId, ref, present),
    open: (projectId, ref) =>
      meant(projectId, ref, async (row) => ({ ...present(row), password: await openPassword(row) })),
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
