import type { Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';

/** A passkey by which a person signs in to the console. */
export interface UserPasskeyRecord {
  /** The credential's id, base64url. */
  id: string;
  userId: string;
  name: string;
  /** In COSE form. */
  publicKey: Uint8Array<ArrayBuffer>;
  /** How often it has signed, as its authenticator counts; 0 where that does not count. */
  counter: number;
  transports: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** Passkeys of people. */
export interface UserPasskeyQueries {
  list(userId: string): Promise<UserPasskeyRecord[]>;
  find(id: string): Promise<UserPasskeyRecord | null>;
  /** Throws `already_exists` for a passkey that somebody has registered. */
  add(passkey: Omit<UserPasskeyRecord, 'createdAt' | 'lastUsedAt'>): Promise<void>;
  /** Notes a use. */
  used(id: string, counter: number): Promise<void>;
  remove(userId: string, id: string): Promise<boolean>;
}

/** Queries of passkeys of people. */
export function createUserPasskeyQueries(db: Db, clock: () => Date): UserPasskeyQueries {
  return {
    list: async (userId) =>
      (
        await db.selectFrom('user_passkeys').selectAll().where('user_id', '=', userId).orderBy('created_at').execute()
      ).map(present),
    find: async (id) => {
      const row = await db.selectFrom('user_passkeys').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    add: async ({ id, userId, name, publicKey, counter, transports }) => {
      const added = await db
        .insertInto('user_passkeys')
        .values({
          id,
          user_id: userId,
          name,
          public_key: Buffer.from(publicKey),
          counter,
          transports: JSON.stringify(transports),
          created_at: clock(),
          last_used_at: null,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id')
        .executeTakeFirst();
      if (added === undefined) throw new HoldfastError('already_exists', 'This passkey is registered already');
    },
    used: async (id, counter) => {
      await db.updateTable('user_passkeys').set({ counter, last_used_at: clock() }).where('id', '=', id).execute();
    },
    remove: async (userId, id) => {
      const { numDeletedRows } = await db
        .deleteFrom('user_passkeys')
        .where('user_id', '=', userId)
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function present(row: Selectable<Database['user_passkeys']>): UserPasskeyRecord {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    publicKey: new Uint8Array(row.public_key),
    counter: row.counter,
    transports: row.transports,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
