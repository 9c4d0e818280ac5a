import type { Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { affectsRow, findOne } from '../scope.ts';

/** A user of the console. */
interface UserRecord {
  id: string;
  email: string;
  name: string | null;
  /** True once the user can sign in with a password and an authenticator code. */
  hasPassword: boolean;
  /** True once the user has signed in through an OpenID provider. */
  hasOidcSubject: boolean;
}

/** Users, in any organization. */
export interface UserQueries {
  find(id: string): Promise<UserRecord | null>;
  findByEmail(email: string): Promise<UserRecord | null>;
  /** By issuer and subject of an OpenID provider. */
  findByOidcSubject(subject: string): Promise<UserRecord | null>;
  /** Creates a user, whose secrets are sealed under the key of `organizationId`. Returns the existing user with that email. */
  create(input: { organizationId: string; email: string; name: string | null }): Promise<UserRecord>;
  /** Throws `already_exists` if another user has the email address. */
  update(id: string, change: { email?: string; name?: string | null }): Promise<void>;
  /** Records the user's OpenID subject. False if the user has another subject, or the subject another user. */
  linkOidcSubject(id: string, subject: string): Promise<boolean>;
}

/** Queries of users. */
export function createUserQueries(db: Db, clock: () => Date): UserQueries {
  const by = (column: 'id' | 'email' | 'oidc_subject', value: string): Promise<UserRecord | null> =>
    findOne(db.selectFrom('users').selectAll().where(column, '=', value), present);
  return {
    find: (id) => by('id', id),
    findByEmail: (email) => by('email', email),
    findByOidcSubject: (subject) => by('oidc_subject', subject),
    create: async ({ organizationId, email, name }) => {
      const now = clock();
      const id = newId('user');
      await db
        .insertInto('users')
        .values({ id, organization_id: organizationId, email, name, created_at: now, updated_at: now })
        .onConflict((conflict) => conflict.column('email').doNothing())
        .execute();
      return (await by('email', email)) ?? { id, email, name, hasPassword: false, hasOidcSubject: false };
    },
    update: async (id, { email, name }) => {
      if (email !== undefined) {
        const other = await by('email', email);
        if (other !== null && other.id !== id)
          throw new HoldfastError('already_exists', 'email: another user has this address; use another one');
      }
      await db
        .updateTable('users')
        .set({
          ...(email === undefined ? {} : { email }),
          ...(name === undefined ? {} : { name }),
          updated_at: clock(),
        })
        .where('id', '=', id)
        .execute();
    },
    linkOidcSubject: async (id, subject) => {
      const other = await by('oidc_subject', subject);
      if (other !== null) return other.id === id;
      return affectsRow(
        db
          .updateTable('users')
          .set({ oidc_subject: subject, updated_at: clock() })
          .where('id', '=', id)
          .where('oidc_subject', 'is', null),
      );
    },
  };
}

function present(row: Selectable<Database['users']>): UserRecord {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    hasPassword: row.password_hash !== null,
    hasOidcSubject: row.oidc_subject !== null,
  };
}
