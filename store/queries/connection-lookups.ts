import { sql, type RawBuilder, type Selectable, type SqlBool } from 'kysely';
import type { AuthStatus, CanReauthReason } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  containsText,
  pageOf,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import { isWaiting, readableJson } from './readable-json.ts';

/** A stored connection. `document` is the whole state as the workflow wrote it; it holds no secret. */
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

/** Which connections a list shows. What is told by the document, from `status` on, reads those of the whole scope. */
export interface ConnectionFilter {
  profileName?: string;
  domain?: string;
  /** Case-insensitive part of the domain or of the profile name. */
  query?: string;
  status?: AuthStatus;
  canReauth?: boolean;
  canReauthReason?: CanReauthReason;
  /** Those whose login waits for somebody at this time. */
  waitingAt?: Date;
}

/** How connections are found. */
export interface ConnectionLookups {
  byId(scope: Scope, id: string): Promise<ConnectionRow | null>;
  /** For Holdfast's own parts (activities): no tenant asks, so no scope is checked. */
  byIdUnscoped(id: string): Promise<ConnectionRow | null>;
  byProfileAndDomain(scope: Scope, profileName: string, domain: string): Promise<ConnectionRow | null>;
  /** Newest first. */
  list(scope: Scope, filter: PageRequest & ConnectionFilter): Promise<Page<ConnectionRow>>;
  /** How many there are. */
  count(scope: Scope): Promise<number>;
  /** Every connection that uses the stored credential of that name, oldest first. */
  usingCredential(scope: ProjectScope, credentialName: string): Promise<ConnectionRow[]>;
  /** Every connection of the organization that uses the external provider of that name, oldest first. */
  usingProvider(organizationId: string, providerName: string): Promise<ConnectionRow[]>;
  /** Connections whose codes come to one of these numbers (`sms`) or addresses, in one project or (null) in all. */
  expectingCodesAt(
    scope: ProjectScope | null,
    channel: 'sms' | 'email',
    to: readonly string[],
  ): Promise<ConnectionRow[]>;
  /** For Holdfast's own parts: ids of all tenants' connections that come after `id` (null: from the first), in order. */
  idsAfter(id: string | null, limit: number): Promise<string[]>;
}

/** Lookups of connections; those that were removed are not found. */
export function createConnectionLookups(db: Db): ConnectionLookups {
  const live = () => db.selectFrom('connections').selectAll().where('deleted_at', 'is', null);

  return {
    byIdUnscoped: async (id) => presentOrNull(await live().where('id', '=', id).executeTakeFirst()),
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
    byId: async (scope, id) =>
      presentOrNull(await live().where('id', '=', id).where(withinScope(scope, 'connections')).executeTakeFirst()),
    byProfileAndDomain: async (scope, profileName, domain) =>
      presentOrNull(
        await live()
          .where('profile_name', '=', profileName)
          .where('domain', '=', domain)
          .where(withinScope(scope, 'connections'))
          .orderBy('created_at')
          .executeTakeFirst(),
      ),
    list: async (scope, { limit, offset, profileName, domain, query, ...state }) => {
      // The inner query runs over an index alone where no state is asked for; documents are fetched for the rows of the page.
      const page = db
        .selectFrom('connections')
        .select('id')
        .where('deleted_at', 'is', null)
        .where(withinScope(scope, 'connections'))
        .$if(profileName !== undefined, (q) => q.where('profile_name', '=', profileName ?? ''))
        .$if(domain !== undefined, (q) => q.where('domain', '=', domain ?? ''))
        .$if(query !== undefined, (q) => q.where(containsText(sql.ref('search'), query ?? '')))
        .$if(Object.keys(state).length > 0, (q) => q.where(isInState(state)))
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
    idsAfter: async (id, limit) => {
      const rows = await db
        .selectFrom('connections')
        .select('id')
        .where('deleted_at', 'is', null)
        .$if(id !== null, (q) => q.where('id', '>', id))
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },
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

/** The condition for connections whose document is in a state. */
function isInState({ status, canReauth, canReauthReason, waitingAt }: ConnectionFilter): RawBuilder<SqlBool> {
  const document = readableJson('document');
  const conditions = [
    ...(status === undefined ? [] : [sql`${document} ->> 'status' = ${status}`]),
    ...(canReauth === undefined ? [] : [sql`${document} ->> 'can_reauth' = ${String(canReauth)}`]),
    ...(canReauthReason === undefined ? [] : [sql`${document} ->> 'can_reauth_reason' = ${canReauthReason}`]),
    ...(waitingAt === undefined ? [] : [isWaiting(document, waitingAt)]),
  ];
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

function presentOrNull(row: Selectable<Database['connections']> | undefined): ConnectionRow | null {
  return row === undefined ? null : present(row);
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
