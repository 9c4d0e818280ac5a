import { GRANT_SECONDS, type OAuthAccess } from '../../contract/oauth.ts';
import type { Role } from '../../contract/people.ts';
import type { Db } from '../database.ts';

/** What a person has allowed a program. */
export interface OAuthGrantRecord {
  id: string;
  organizationId: string;
  user: { id: string; email: string; name: string | null };
  /** What the person is now. */
  role: Role;
  projectId: string | null;
  projectArchivedAt: Date | null;
  access: OAuthAccess;
  clientId: string;
  clientName: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date;
}

type NewGrant = Pick<OAuthGrantRecord, 'id' | 'organizationId' | 'projectId' | 'access' | 'clientId' | 'clientName'>;

/** Grants of programs. One that is removed is refused on the next request, for nothing of it is cached. */
export interface OAuthGrantQueries {
  create(grant: NewGrant & { userId: string }): Promise<void>;
  /** The grant, when it has neither ended nor been removed and its person is a member still; null otherwise. */
  find(id: string): Promise<OAuthGrantRecord | null>;
  /** Notes that a program acts by it. */
  used(grant: OAuthGrantRecord): Promise<void>;
  /** Newest first: those of one person, or, for `userId: null`, of all. */
  list(organizationId: string, userId: string | null): Promise<OAuthGrantRecord[]>;
  /** Ends a grant, and with it every code and token of it. False when there is none. */
  remove(organizationId: string, userId: string | null, id: string): Promise<boolean>;
}

/** How old `last_used_at` gets before it is written again, in milliseconds. */
const USED_EVERY_MS = 60_000;

/** Queries of grants. */
export function createOAuthGrantQueries(db: Db, clock: () => Date): OAuthGrantQueries {
  const grants = () =>
    db
      .selectFrom('oauth_grants')
      .innerJoin('users', 'users.id', 'oauth_grants.user_id')
      .innerJoin('memberships', (join) =>
        join
          .onRef('memberships.user_id', '=', 'oauth_grants.user_id')
          .onRef('memberships.organization_id', '=', 'oauth_grants.organization_id'),
      )
      .leftJoin('projects', 'projects.id', 'oauth_grants.project_id')
      .selectAll('oauth_grants')
      .select(['users.email', 'users.name', 'memberships.role', 'projects.archived_at'])
      .where('oauth_grants.expires_at', '>', clock());

  return {
    create: async ({ id, organizationId, userId, projectId, access, clientId, clientName }) => {
      const now = clock();
      await db
        .insertInto('oauth_grants')
        .values({
          id,
          organization_id: organizationId,
          user_id: userId,
          project_id: projectId,
          access,
          client_id: clientId,
          client_name: clientName,
          created_at: now,
          last_used_at: null,
          expires_at: new Date(now.getTime() + GRANT_SECONDS * 1000),
        })
        .execute();
    },
    find: async (id) => {
      const row = await grants().where('oauth_grants.id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    used: async ({ id, lastUsedAt }) => {
      const now = clock();
      if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USED_EVERY_MS) return;
      await db.updateTable('oauth_grants').set({ last_used_at: now }).where('id', '=', id).execute();
    },
    list: async (organizationId, userId) => {
      const rows = await grants()
        .where('oauth_grants.organization_id', '=', organizationId)
        .$if(userId !== null, (query) => query.where('oauth_grants.user_id', '=', userId))
        .orderBy('oauth_grants.created_at', 'desc')
        .execute();
      return rows.map(present);
    },
    remove: async (organizationId, userId, id) => {
      const { numDeletedRows } = await db
        .deleteFrom('oauth_grants')
        .where('id', '=', id)
        .where('organization_id', '=', organizationId)
        .$if(userId !== null, (query) => query.where('user_id', '=', userId))
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

interface GrantRow {
  id: string;
  organization_id: string;
  user_id: string;
  email: string;
  name: string | null;
  role: Role;
  project_id: string | null;
  archived_at: Date | null;
  access: OAuthAccess;
  client_id: string;
  client_name: string;
  created_at: Date;
  last_used_at: Date | null;
  expires_at: Date;
}

function present(row: GrantRow): OAuthGrantRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    user: { id: row.user_id, email: row.email, name: row.name },
    role: row.role,
    projectId: row.project_id,
    projectArchivedAt: row.archived_at,
    access: row.access,
    clientId: row.client_id,
    clientName: row.client_name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
