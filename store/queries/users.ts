import type { Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';

/** A person. */
export interface UserRecord {
  id: string;
  email: string;
  name: string | null;
  /** True once a password and an authenticator's code sign the person in. */
  hasPassword: boolean;
  /** True once an account at an OpenID provider has signed the person in. */
  hasOidcSubject: boolean;
}

/** People, whatever they belong to. */
export interface UserQueries {
  find(id: string): Promise<UserRecord | null>;
  findByEmail(email: string): Promise<UserRecord | null>;
  /** By issuer and subject of an OpenID provider. */
  findByOidcSubject(subject: string): Promise<UserRecord | null>;
  /** Makes a person whose secrets `organizationId`'s key seals. Answers the one who has the e-mail address already. */
  create(input: { organizationId: string; email: string; name: string | null }): Promise<UserRecord>;
  /** Throws `already_exists` for the e-mail address of somebody else. */
  update(id: string, change: { email?: string; name?: string | null }): Promise<void>;
  /** Notes by what an OpenID provider knows the person. False when another subject is noted, or this one for somebody else. */
  linkOidcSubject(id: string, subject: string): Promise<boolean>;
}

/** Queries of people. */
export function createUserQueries(db: Db, clock: () => Date): UserQueries {
  const by = async (column: 'id' | 'email' | 'oidc_subject', value: string): Promise<UserRecord | null> => {
    const row = await db.selectFrom('users').selectAll().where(column, '=', value).executeTakeFirst();
    return row === undefined ? null : presentUser(row);
  };
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
          throw new HoldfastError('already_exists', 'Somebody else has this e-mail address; use another one');
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
      const { numUpdatedRows } = await db
        .updateTable('users')
        .set({ oidc_subject: subject, updated_at: clock() })
        .where('id', '=', id)
        .where('oidc_subject', 'is', null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },
  };
}

/** A row of `users` as the rest of Holdfast sees it. */
export function presentUser(row: Selectable<Database['users']>): UserRecord {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    hasPassword: row.password_hash !== null,
    hasOidcSubject: row.oidc_subject !== null,
  };
}
