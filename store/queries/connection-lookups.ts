import { sql, type RawBuilder, type Selectable, type SqlBool } from 'kysely';
import type { AuthStatus, CanReauthReason } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  containsText,
  findOne,
  pageOf,
  readIds,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';

/** A stored connection. `document` is the whole state as the workflow wrote it; it contains no secret. */
export interface ConnectionRow {
  id: string;
  organizationId: string;
  projectId: string;
  profileName: string;
  domain: string;
  document: ConnectionDocument;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Filters of a list. Those on the document, from `status` on, read every document of the scope. */
interface ConnectionFilter {
  profileName?: string;
  domain?: string;
  /** A case-insensitive part of the domain or profile name. */
  query?: string;
  status?: AuthStatus;
  canReauth?: boolean;
  canReauthReason?: CanReauthReason;
  /** Only connections whose login awaits a person at this time. */
  waitingAt?: Date;
}

/** Lookups of connections. */
export interface ConnectionLookups {
  byId(scope: Scope, id: string): Promise<ConnectionRow | null>;
  /** Internal (activities): no scope is checked. */
  byIdUnscoped(id: string): Promise<ConnectionRow | null>;
  byProfileAndDomain(scope: Scope, profileName: string, domain: string): Promise<ConnectionRow | null>;
  /** Newest first. */
  list(scope: Scope, filter: PageRequest & ConnectionFilter): Promise<Page<ConnectionRow>>;
  count(scope: Scope): Promise<number>;
  /** Every connection that uses the stored credential with that name, oldest first. */
  usingCredential(scope: ProjectScope, credentialName: string): Promise<ConnectionRow[]>;
  /** Every connection of the organization that uses the external provider with that name, oldest first. */
  usingProvider(organizationId: string, providerName: string): Promise<ConnectionRow[]>;
  /** Connections that receive codes at one of these numbers (`sms`) or addresses, in one project or (null) in all. */
  expectingCodesAt(
    scope: ProjectScope | null,
    channel: 'sms' | 'email',
    to: readonly string[],
  ): Promise<ConnectionRow[]>;
  /** Internal: ids of all tenants' connections after `id` (null: from the first), in order. */
  idsAfter(id: string | null, limit: number): Promise<string[]>;
}

/** Lookups of connections; removed ones are not found. */
export function createConnectionLookups(db: Db): ConnectionLookups {
  const live = () => db.selectFrom('connections').selectAll().where('deleted_at', 'is', null);

  return {
    byIdUnscoped: (id) => findOne(live().where('id', '=', id), present),
    count: async ({ organizationId, projectId }) => {
      const { count } = await db
        .selectFrom('connections')
        .select(({ fn }) => fn.countAll<string>().as('count'))
        .where('deleted_at', 'is', null)
        .where('organization_id', '=', organizationId)
        .$if(projectId !== null, (query) => query.where('project_id', '=', projectId))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    byId: (scope, id) => findOne(live().where('id', '=', id).where(withinScope(scope, 'connections')), present),
    byProfileAndDomain: (scope, profileName, domain) =>
      findOne(
        live()
          .where('profile_name', '=', profileName)
          .where('domain', '=', domain)
          .where(withinScope(scope, 'connections'))
          .orderBy('created_at'),
        present,
      ),
    list: async (scope, { limit, offset, profileName, domain, query, ...state }) => {
      // Without a state filter the inner query needs only an index; documents are read for the rows of the page.
      const page = db
        .selectFrom('connections')
        .select('id')
        .where('deleted_at', 'is', null)
        .where(withinScope(scope, 'connections'))
        .$if(profileName !== undefined, (q) => q.where('profile_name', '=', profileName ?? ''))
        .$if(domain !== undefined, (q) => q.where('domain', '=', domain ?? ''))
        .where(containsText(sql.ref('search'), query))
        .$if(Object.keys(state).length > 0, (q) => q.where(matchesState(state)))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .offset(offset);
      const rows = await db
        .selectFrom('connections')
        .selectAll()
        .where(sql<SqlBool>`id = any(array(${page}))`)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .execute();
      return pageOf(rows.map(present), limit);
    },
    usingCredential: async (scope, credentialName) => {
      const rows = await live()
        .where('credential_name', '=', credentialName)
        .where(withinScope(scope, 'connections'))
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(present);
    },
    expectingCodesAt: async (scope, channel, to) => {
      if (to.length === 0) return [];
      const rows = await live()
        .where(channel === 'sms' ? 'code_phone' : 'code_email', 'in', to)
        .$if(scope !== null, (q) => q.where('project_id', '=', scope?.projectId ?? ''))
        .execute();
      return rows.map(present);
    },
    idsAfter: (id, limit) =>
      readIds(
        db
          .selectFrom('connections')
          .select('id')
          .where('deleted_at', 'is', null)
          .$if(id !== null, (q) => q.where('id', '>', id))
          .orderBy('id')
          .limit(limit),
      ),
    usingProvider: async (organizationId, providerName) => {
      const rows = await live()
        .where('organization_id', '=', organizationId)
        .where(sql<string>`document #>> '{settings,credential,provider}'`, '=', providerName)
        .orderBy('created_at')
        .orderBy('id')
        .execute();
      return rows.map(present);
    },
  };
}

/**
 * A `json` column whose members can be read. Page text may contain NUL and lone surrogates as escapes, which Postgres stores
 * but cannot read; they become question marks. Our own values (states, ids, times) never contain them.
 */
export function readableJson(column: string): RawBuilder<unknown> {
  const value = sql.ref(column);
  return sql`(case when ${value}::text ~ ${String.raw`\\u(0000|[dD][89a-fA-F])`} then regexp_replace(${value}::text,
    ${String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`}, ${String.raw`\1?`}, 'g')::json else ${value} end)`;
}

/** True for the document of a connection whose login awaits a person at a time. */
export function isAwaitingPerson(document: RawBuilder<unknown>, at: Date): RawBuilder<unknown> {
  return sql`(${document} #>> '{flow,flow_status}' = 'IN_PROGRESS'
    and ${document} #>> '{flow,flow_step}' in ('AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION')
    and (${document} #>> '{flow,flow_expires_at}')::timestamptz > ${at})`;
}

/** The condition of the filters on the document. */
function matchesState({ status, canReauth, canReauthReason, waitingAt }: ConnectionFilter): RawBuilder<SqlBool> {
  const document = readableJson('document');
  const conditions = [
    ...(status === undefined ? [] : [sql`${document} ->> 'status' = ${status}`]),
    ...(canReauth === undefined ? [] : [sql`${document} ->> 'can_reauth' = ${String(canReauth)}`]),
    ...(canReauthReason === undefined ? [] : [sql`${document} ->> 'can_reauth_reason' = ${canReauthReason}`]),
    ...(waitingAt === undefined ? [] : [isAwaitingPerson(document, waitingAt)]),
  ];
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

function present(row: Selectable<Database['connections']>): ConnectionRow {
  return {
    id: row.id,
    organizationId: row.organization_id,
    projectId: row.project_id,
    profileName: row.profile_name,
    domain: row.domain,
    document: row.document,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
