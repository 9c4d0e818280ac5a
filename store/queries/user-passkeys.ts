import type { Selectable } from 'kysely';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { affectsRow, findOne } from '../scope.ts';

/** A passkey that a user signs in to the console with. */
export interface UserPasskeyRecord {
  /** The credential's id, base64url. */
  id: string;
  userId: string;
  name: string;
  /** In COSE form. */
  publicKey: Uint8Array<ArrayBuffer>;
  /** The authenticator's signature counter; 0 if it does not count. */
  counter: number;
  transports: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** Passkeys of users. */
export interface UserPasskeyQueries {
  list(userId: string): Promise<UserPasskeyRecord[]>;
  find(id: string): Promise<UserPasskeyRecord | null>;
  /** Throws `already_exists` if the passkey is already registered. */
  add(passkey: Omit<UserPasskeyRecord, 'createdAt' | 'lastUsedAt'>): Promise<void>;
  /** Records a sign-in. */
  recordUse(id: string, counter: number): Promise<void>;
  remove(userId: string, id: string): Promise<boolean>;
}

/** Queries of users' passkeys. */
export function createUserPasskeyQueries(db: Db, clock: () => Date): UserPasskeyQueries {
  return {
    list: async (userId) =>
      (
        await db.selectFrom('user_passkeys').selectAll().where('user_id', '=', userId).orderBy('created_at').execute()
      ).map(present),
    find: (id) => findOne(db.selectFrom('user_passkeys').selectAll().where('id', '=', id), present),
    add: async ({ id, userId, name, publicKey, counter, transports }) => {
      const insert = db
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
        .executeTakeFirstOrThrow();
      await rejectDuplicate(insert, 'This passkey is already registered; use another one');
    },
    recordUse: async (id, counter) => {
      await db.updateTable('user_passkeys').set({ counter, last_used_at: clock() }).where('id', '=', id).execute();
    },
    remove: (userId, id) =>
      affectsRow(db.deleteFrom('user_passkeys').where('user_id', '=', userId).where('id', '=', id)),
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
