import type { Selectable } from 'kysely';
import { GRANT_SECONDS, type OAuthAccess } from '../../contract/oauth.ts';
import type { Role } from '../../contract/people.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { affectsRow, findOne } from '../scope.ts';

/** Access that a user has granted to a program. */
export interface OAuthGrantRecord {
  id: string;
  organizationId: string;
  user: { id: string; email: string; name: string | null };
  /** The user's current role. */
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

/** Grants to programs. Never cached: a removed grant is rejected on the next request. */
export interface OAuthGrantQueries {
  create(grant: NewGrant & { userId: string }): Promise<void>;
  /** The grant, unless it has expired, was removed, or its user is no longer a member. */
  find(id: string): Promise<OAuthGrantRecord | null>;
  /** Records that a program used it. */
  recordUse(grant: OAuthGrantRecord): Promise<void>;
  /** Newest first: those of one user, or of all users if `userId` is null. */
  list(organizationId: string, userId: string | null): Promise<OAuthGrantRecord[]>;
  /** Ends a grant with all its codes and tokens. False if there is none. */
  remove(organizationId: string, userId: string | null, id: string): Promise<boolean>;
}

/** Minimum age of `last_used_at` before it is updated, in milliseconds. */
const USE_RECORDED_EVERY_MS = 60_000;

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
    find: (id) => findOne(grants().where('oauth_grants.id', '=', id), present),
    recordUse: async ({ id, lastUsedAt }) => {
      const now = clock();
      if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USE_RECORDED_EVERY_MS) return;
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
    remove: (organizationId, userId, id) =>
      affectsRow(
        db
          .deleteFrom('oauth_grants')
          .where('id', '=', id)
          .where('organization_id', '=', organizationId)
          .$if(userId !== null, (query) => query.where('user_id', '=', userId)),
      ),
  };
}

type GrantRow = Selectable<Database['oauth_grants']> &
  Pick<Selectable<Database['users']>, 'email' | 'name'> & { role: Role; archived_at: Date | null };

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
