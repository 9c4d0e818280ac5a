import type { Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import { INVITATION_LIFETIME_MS, type Role } from '../../contract/people.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { affectsRow, findOne, readPage, type Page, type PageRequest } from '../scope.ts';
import { hashSecretToken, newSecretToken } from '../secret-tokens.ts';

/** A pending invitation. */
export interface InvitationRecord {
  id: string;
  organizationId: string;
  email: string;
  role: Role;
  /** Id of the inviting user. */
  invitedBy: string;
  createdAt: Date;
  expiresAt: Date;
}

/** Invitations to organizations. Only hashes of their codes are stored. */
export interface InvitationQueries {
  /** Invites an address, replacing an earlier invitation to the organization. */
  create(
    organizationId: string,
    input: { email: string; role: Role; invitedBy: string },
  ): Promise<{ invitation: InvitationRecord; code: string }>;
  /** Pending invitations, by email address. */
  list(organizationId: string, page: PageRequest): Promise<Page<InvitationRecord>>;
  remove(organizationId: string, id: string): Promise<boolean>;
  /** The invitation of a code, until it expires. */
  find(code: string): Promise<InvitationRecord | null>;
  /** Redeems a code once: an atomic delete, true only for the first caller. */
  redeem(code: string): Promise<boolean>;
}

/** Queries of invitations. */
export function createInvitationQueries(db: Db, clock: () => Date): InvitationQueries {
  const live = () => db.selectFrom('invitations').selectAll().where('expires_at', '>', clock());
  return {
    create: async (organizationId, { email, role, invitedBy }) => {
      const now = clock();
      const code = newSecretToken();
      const values = {
        id: newId('ivt'),
        organization_id: organizationId,
        email,
        role,
        code_hash: hashSecretToken(code),
        invited_by: invitedBy,
        created_at: now,
        expires_at: new Date(now.getTime() + INVITATION_LIFETIME_MS),
      };
      const row = await db
        .insertInto('invitations')
        .values(values)
        .onConflict((conflict) => conflict.columns(['organization_id', 'email']).doUpdateSet(values))
        .returningAll()
        .executeTakeFirstOrThrow();
      return { invitation: present(row), code };
    },
    list: (organizationId, page) =>
      readPage(live().where('organization_id', '=', organizationId).orderBy('email').orderBy('id'), page, present),
    remove: (organizationId, id) =>
      affectsRow(db.deleteFrom('invitations').where('organization_id', '=', organizationId).where('id', '=', id)),
    find: (code) => findOne(live().where('code_hash', '=', hashSecretToken(code)), present),
    redeem: (code) =>
      affectsRow(
        db.deleteFrom('invitations').where('code_hash', '=', hashSecretToken(code)).where('expires_at', '>', clock()),
      ),
  };
}

function present(row: Selectable<Database['invitations']>): InvitationRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    email: row.email,
    role: row.role,
    invitedBy: row.invited_by,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
