import { sql } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import type { Role } from '../../contract/people.ts';
import type { Db } from '../database.ts';
import { affectsRow, findOne, readPage, type Page, type PageRequest } from '../scope.ts';

/** A person in an organization. */
export interface MemberRecord {
  user: { id: string; email: string; name: string | null };
  role: Role;
  createdAt: Date;
}

/** The members of organizations, and their roles. */
export interface MembershipQueries {
  /** The members of an organization, by email address. */
  list(organizationId: string, page: PageRequest): Promise<Page<MemberRecord>>;
  /** Null if the user is not a member. */
  find(organizationId: string, who: { userId: string } | { email: string }): Promise<MemberRecord | null>;
  /** The owner whose email address sorts first; null if only API keys use the organization. */
  firstOwner(organizationId: string): Promise<MemberRecord | null>;
  /** The organizations of a user, by name. */
  ofUser(userId: string): Promise<{ id: string; name: string; role: Role }[]>;
  /** Adds a member. An existing member keeps the role. */
  add(organizationId: string, userId: string, role: Role): Promise<void>;
  /** Null if the user is not a member. Throws `operation_failed` for the last owner. */
  setRole(organizationId: string, userId: string, role: Role): Promise<MemberRecord | null>;
  /** Removes a member and their sessions. False if the user is not a member. Throws `operation_failed` for the last owner. */
  remove(organizationId: string, userId: string): Promise<boolean>;
  /** True if an owner of the organization can sign in with a password, a passkey or OpenID. */
  hasReachableOwner(organizationId: string): Promise<boolean>;
}

/** Queries of memberships. */
export function createMembershipQueries(db: Db, clock: () => Date): MembershipQueries {
  const members = (organizationId: string, from: Db = db) =>
    from
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select(['users.id', 'users.email', 'users.name', 'memberships.role', 'memberships.created_at'])
      .where('memberships.organization_id', '=', organizationId);

  /** Runs a change that must leave an owner. Changes of one organization are serialized. */
  const requiringOwner = <Result>(organizationId: string, change: (trx: Db) => Promise<Result>): Promise<Result> =>
    db.transaction().execute(async (trx) => {
      await sql`select id from organizations where id = ${organizationId} for update`.execute(trx);
      const result = await change(trx);
      // Not a member: not found, even in an organization without an owner, which only API keys use.
      if (result === null || result === false) return result;
      const owner = await trx
        .selectFrom('memberships')
        .select('user_id')
        .where('organization_id', '=', organizationId)
        .where('role', '=', 'owner')
        .limit(1)
        .executeTakeFirst();
      if (owner === undefined)
        throw new HoldfastError(
          'operation_failed',
          'An organization keeps an owner; make another member an owner first',
        );
      return result;
    });

  return {
    list: (organizationId, page) =>
      readPage(members(organizationId).orderBy('users.email').orderBy('users.id'), page, present),
    find: (organizationId, who) =>
      findOne(
        'userId' in who
          ? members(organizationId).where('users.id', '=', who.userId)
          : members(organizationId).where('users.email', '=', who.email),
        present,
      ),
    firstOwner: (organizationId) =>
      findOne(members(organizationId).where('memberships.role', '=', 'owner').orderBy('users.email').limit(1), present),
    ofUser: (userId) =>
      db
        .selectFrom('memberships')
        .innerJoin('organizations', 'organizations.id', 'memberships.organization_id')
        .select(['organizations.id', 'organizations.name', 'memberships.role'])
        .where('memberships.user_id', '=', userId)
        .orderBy('organizations.name')
        .orderBy('organizations.id')
        .execute(),
    add: async (organizationId, userId, role) => {
      await db
        .insertInto('memberships')
        .values({ organization_id: organizationId, user_id: userId, role, created_at: clock() })
        .onConflict((conflict) => conflict.columns(['organization_id', 'user_id']).doNothing())
        .execute();
    },
    setRole: (organizationId, userId, role) =>
      requiringOwner(organizationId, async (trx) => {
        await trx
          .updateTable('memberships')
          .set({ role })
          .where('organization_id', '=', organizationId)
          .where('user_id', '=', userId)
          .execute();
        return findOne(members(organizationId, trx).where('users.id', '=', userId), present);
      }),
    remove: (organizationId, userId) =>
      requiringOwner(organizationId, (trx) =>
        affectsRow(
          trx.deleteFrom('memberships').where('organization_id', '=', organizationId).where('user_id', '=', userId),
        ),
      ),
    hasReachableOwner: async (organizationId) => {
      const row = await members(organizationId)
        .where('memberships.role', '=', 'owner')
        .where((eb) =>
          eb.or([
            eb('users.password_hash', 'is not', null),
            eb('users.oidc_subject', 'is not', null),
            eb.exists(
              eb
                .selectFrom('user_passkeys')
                .select('user_passkeys.id')
                .whereRef('user_passkeys.user_id', '=', 'users.id'),
            ),
          ]),
        )
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },
  };
}

function present(row: { id: string; email: string; name: string | null; role: Role; created_at: Date }): MemberRecord {
  return { user: { id: row.id, email: row.email, name: row.name }, role: row.role, createdAt: row.created_at };
}
