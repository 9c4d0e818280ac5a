import { newId } from '../../contract/ids.ts';
import { SESSION_IDLE_MS, SESSION_LIFETIME_MS, type Role } from '../../contract/people.ts';
import type { Db } from '../database.ts';
import { hashSecretToken, newSecretToken } from '../secret-tokens.ts';

/** A console session of a user in one of their organizations. */
export interface UserSessionRecord {
  id: string;
  user: { id: string; email: string; name: string | null };
  organizationId: string;
  role: Role;
  /** When the user last confirmed their identity; null if that happened elsewhere. */
  confirmedAt: Date | null;
  expiresAt: Date;
}

/** Console sessions. Only hashes of their tokens are stored. */
export interface UserSessionQueries {
  /** Starts a session of a member, confirmed now. Returns its token, which is not stored. */
  begin(userId: string, organizationId: string): Promise<{ token: string; session: UserSessionRecord }>;
  /**
   * The session of a token, with the user's current role; null if it has expired or was idle for too long. Never cached: a
   * removed member is rejected on the next request.
   */
  authenticate(token: string): Promise<UserSessionRecord | null>;
  /** Records that the user has confirmed their identity again. */
  confirm(id: string): Promise<void>;
  /** Switches a session to another organization of its user. */
  move(id: string, organizationId: string): Promise<void>;
  end(id: string): Promise<void>;
  /** Ends all other sessions of a user, in all organizations, and revokes the user's grants to programs. */
  endOthers(userId: string, keptId: string): Promise<void>;
}

/** Minimum age of `last_seen_at` before it is updated, in milliseconds, so that not every request costs a write. */
const SEEN_RECORDED_EVERY_MS = 60_000;

/** Queries of sessions. */
export function createUserSessionQueries(db: Db, clock: () => Date): UserSessionQueries {
  const authenticate = async (token: string): Promise<UserSessionRecord | null> => {
    const now = clock();
    const row = await db
      .selectFrom('user_sessions')
      .innerJoin('users', 'users.id', 'user_sessions.user_id')
      .innerJoin('memberships', (join) =>
        join
          .onRef('memberships.user_id', '=', 'user_sessions.user_id')
          .onRef('memberships.organization_id', '=', 'user_sessions.organization_id'),
      )
      .selectAll('user_sessions')
      .select(['users.email', 'users.name', 'memberships.role'])
      .where('token_hash', '=', hashSecretToken(token))
      .where('expires_at', '>', now)
      .where('last_seen_at', '>', new Date(now.getTime() - SESSION_IDLE_MS))
      .executeTakeFirst();
    if (row === undefined) return null;
    if (now.getTime() - row.last_seen_at.getTime() > SEEN_RECORDED_EVERY_MS)
      await db.updateTable('user_sessions').set({ last_seen_at: now }).where('id', '=', row.id).execute();
    return {
      id: row.id,
      user: { id: row.user_id, email: row.email, name: row.name },
      organizationId: row.organization_id,
      role: row.role,
      confirmedAt: row.confirmed_at,
      expiresAt: row.expires_at,
    };
  };
  return {
    authenticate,
    begin: async (userId, organizationId) => {
      const now = clock();
      const token = newSecretToken();
      await db
        .insertInto('user_sessions')
        .values({
          id: newId('ses'),
          token_hash: hashSecretToken(token),
          user_id: userId,
          organization_id: organizationId,
          created_at: now,
          last_seen_at: now,
          expires_at: new Date(now.getTime() + SESSION_LIFETIME_MS),
          confirmed_at: now,
        })
        .execute();
      const session = await authenticate(token);
      if (session === null) throw new Error('the session just created was not found');
      return { token, session };
    },
    confirm: async (id) => {
      await db.updateTable('user_sessions').set({ confirmed_at: clock() }).where('id', '=', id).execute();
    },
    move: async (id, organizationId) => {
      await db.updateTable('user_sessions').set({ organization_id: organizationId }).where('id', '=', id).execute();
    },
    end: async (id) => {
      await db.deleteFrom('user_sessions').where('id', '=', id).execute();
    },
    endOthers: async (userId, keptId) => {
      await db.deleteFrom('user_sessions').where('user_id', '=', userId).where('id', '!=', keptId).execute();
      await db.deleteFrom('oauth_grants').where('user_id', '=', userId).execute();
    },
  };
}
