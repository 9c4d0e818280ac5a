import { createHmac, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { HoldfastError } from '../../contract/errors.ts';
import type { Db } from '../database.ts';
import { deriveKey, type KeyWrapper } from './master-key.ts';
import { KEY_BYTES, newKeyId, seal, SealBroken, sealedBy, unseal, type SealedPlace, type SealingKey } from './seal.ts';

/**
 * Encryption of table contents. Every function takes the database handle of its caller, so that inside a transaction its
 * reads and writes belong to that transaction.
 */
export interface Vault {
  /** Creates the active data key of an organization, unless it has one. */
  createOrganizationKey(db: Db, organizationId: string, now: Date): Promise<void>;
  /** Seals a JSON value under the organization's active key. */
  sealJson(db: Db, organizationId: string, place: SealedPlace, value: unknown): Promise<Buffer>;
  /** Opens a value of `sealJson`; the caller validates its type. */
  openJson(db: Db, organizationId: string, place: SealedPlace, blob: Buffer): Promise<unknown>;
  /** Opens a sealed string. Null for null, and for a value that is no string. */
  openText(db: Db, organizationId: string, place: SealedPlace, blob: Buffer | null): Promise<string | null>;
  /** Seals raw bytes under the organization's active key. */
  sealBytes(db: Db, organizationId: string, place: SealedPlace, bytes: Buffer): Promise<Buffer>;
  openBytes(db: Db, organizationId: string, place: SealedPlace, blob: Buffer): Promise<Buffer>;
  /** The data key of a connection, created on first use. Null if the connection was removed, and its key with it. */
  connectionVault(db: Db, connectionId: string): Promise<ConnectionVault | null>;
  /** The active key of an organization, freshly read. */
  activeKey(db: Db, organizationId: string): Promise<SealingKey>;
  /** Id of the master key that wraps new keys. */
  wrappingKeyId(): Promise<string>;
  /** Wraps a key for a row of a key table. */
  wrap(table: KeyTable, id: string, key: Buffer): Promise<{ wrapped: Buffer; wrapping_key_id: string }>;
  /** Unwraps a row of a key table. Throws `internal_error` if its master key is missing. */
  unwrap(table: KeyTable, row: WrappedKey): Promise<Buffer>;
  /** A key by id. Throws {@link SealBroken} if the organization has no such key. */
  keyById(db: Db, organizationId: string, keyId: string): Promise<SealingKey>;
}

/** Seals under the data key of one connection. */
interface ConnectionVault {
  seal(place: SealedPlace, value: unknown): Buffer;
  open(place: SealedPlace, blob: Buffer): unknown;
  /** A digest that requires the key to compute or compare. */
  digest(text: string): Buffer;
}

/** Tables of keys wrapped by the master key. */
export type KeyTable = 'organization_keys' | 'installation_keys';

/** A stored wrapped key. */
interface WrappedKey {
  id: string;
  wrapped: Buffer;
  wrapping_key_id: string;
}

/** What {@link createVault} needs. */
interface VaultDeps {
  wrapper: KeyWrapper;
  /** Only unwrap, during a rotation. */
  retired?: KeyWrapper[];
  /** Reloads the wrappers, the wrapping one first: called before a key is wrapped, and if none matches a row. */
  reload?: () => Promise<KeyWrapper[]>;
}

function connectionKeyPlace(connectionId: string): SealedPlace {
  return { table: 'connection_keys', column: 'sealed_key', rowId: connectionId };
}

function wrappedKeyPlace(table: KeyTable, keyId: string): SealedPlace {
  return { table, column: 'wrapped', rowId: keyId };
}

/** How long a process caches which key of an organization is active, in milliseconds. */
export const ACTIVE_KEY_CACHE_MS = 30_000;

/** The vault over the tables `organization_keys` and `connection_keys`. Unwrapped keys stay in memory. */
export function createVault({ wrapper, retired = [], reload }: VaultDeps): Vault {
  let wrappers = [wrapper, ...retired];
  const keys = new Map<string, SealingKey>();
  const active = new Map<string, { keyId: string; until: number }>();

  async function currentWrapper(): Promise<KeyWrapper> {
    if (reload !== undefined) wrappers = await reload();
    return wrappers[0] ?? wrapper;
  }

  async function unwrap(table: KeyTable, row: WrappedKey): Promise<Buffer> {
    const fits = (candidate: KeyWrapper): boolean => candidate.keyId === row.wrapping_key_id;
    // Another process may have rotated the master key.
    if (!wrappers.some(fits)) await currentWrapper();
    const fitting = wrappers.find(fits);
    if (fitting === undefined)
      throw new HoldfastError(
        'internal_error',
        'The master key is not the one this store was created with; set HOLDFAST_MASTER_KEY to that key',
      );
    return fitting.unwrap(row.wrapped, wrappedKeyPlace(table, row.id));
  }

  async function wrap(table: KeyTable, id: string, key: Buffer) {
    const current = await currentWrapper();
    return { wrapped: await current.wrap(key, wrappedKeyPlace(table, id)), wrapping_key_id: current.keyId };
  }

  async function unwrapKey(row: WrappedKey): Promise<SealingKey> {
    const known = keys.get(row.id);
    if (known !== undefined) return known;
    const key = { id: row.id, key: await unwrap('organization_keys', row) };
    keys.set(row.id, key);
    return key;
  }

  async function activeKey(db: Db, organizationId: string): Promise<SealingKey> {
    const row = await db
      .selectFrom('organization_keys')
      .select(['id', 'wrapped', 'wrapping_key_id'])
      .where('organization_id', '=', organizationId)
      .where('active', '=', true)
      .executeTakeFirst();
    if (row === undefined) throw new HoldfastError('not_found', 'The organization has no data key');
    active.set(organizationId, { keyId: row.id, until: Date.now() + ACTIVE_KEY_CACHE_MS });
    return unwrapKey(row);
  }

  async function cachedActiveKey(db: Db, organizationId: string): Promise<SealingKey> {
    const memory = active.get(organizationId);
    const key = memory === undefined || memory.until < Date.now() ? undefined : keys.get(memory.keyId);
    return key ?? activeKey(db, organizationId);
  }

  async function keyById(db: Db, organizationId: string, keyId: string): Promise<SealingKey> {
    const known = keys.get(keyId);
    if (known !== undefined) return known;
    const row = await db
      .selectFrom('organization_keys')
      .select(['id', 'wrapped', 'wrapping_key_id'])
      .where('organization_id', '=', organizationId)
      .where('id', '=', keyId)
      .executeTakeFirst();
    if (row === undefined) throw new SealBroken('The key that sealed this value is not here');
    return unwrapKey(row);
  }

  async function createOrganizationKey(db: Db, organizationId: string, now: Date): Promise<void> {
    const id = newKeyId();
    await db
      .insertInto('organization_keys')
      .values({
        id,
        organization_id: organizationId,
        ...(await wrap('organization_keys', id, randomBytes(KEY_BYTES))),
        active: true,
        created_at: now,
      })
      .onConflict((conflict) => conflict.column('organization_id').where('active', '=', true).doNothing())
      .execute();
  }

  async function connectionKey(db: Db, connectionId: string): Promise<Buffer | null> {
    const place = connectionKeyPlace(connectionId);
    const read = async (): Promise<Buffer | null> => {
      const row = await db
        .selectFrom('connection_keys')
        .selectAll()
        .where('connection_id', '=', connectionId)
        .executeTakeFirst();
      if (row === undefined) return null;
      const key = await keyById(db, row.organization_id, sealedBy(row.sealed_key));
      return unseal(key, place, row.sealed_key);
    };
    const existing = await read();
    if (existing !== null) return existing;
    const owner = await db
      .selectFrom('connections')
      .select('organization_id')
      .where('id', '=', connectionId)
      .where('deleted_at', 'is', null)
      .executeTakeFirst();
    if (owner === undefined) return null;
    const sealing = await cachedActiveKey(db, owner.organization_id);
    const sealedKey = seal(sealing, place, randomBytes(KEY_BYTES));
    // Of concurrent inserts one wins, and all read its key. A connection removed meanwhile gets none.
    await db
      .insertInto('connection_keys')
      .columns(['connection_id', 'organization_id', 'sealed_key'])
      .expression((eb) =>
        eb
          .selectFrom('connections')
          .select((e) => [e.ref('id').as('id'), e.ref('organization_id').as('org'), e.val(sealedKey).as('key')])
          .where('id', '=', connectionId)
          .where('deleted_at', 'is', null)
          .forUpdate(),
      )
      .onConflict((conflict) => conflict.column('connection_id').doNothing())
      .execute();
    return read();
  }

  const sealBytes: Vault['sealBytes'] = async (db, organizationId, place, bytes) =>
    seal(await cachedActiveKey(db, organizationId), place, bytes);
  const openBytes: Vault['openBytes'] = async (db, organizationId, place, blob) =>
    unseal(await keyById(db, organizationId, sealedBy(blob)), place, blob);

  return {
    createOrganizationKey,
    activeKey,
    keyById,
    wrap,
    unwrap,
    wrappingKeyId: async () => (await currentWrapper()).keyId,
    sealBytes,
    openBytes,
    sealJson: (db, organizationId, place, value) => sealBytes(db, organizationId, place, toBytes(value)),
    openJson: async (db, organizationId, place, blob) => fromBytes(await openBytes(db, organizationId, place, blob)),
    openText: async (db, organizationId, place, blob) => {
      const value = blob === null ? null : fromBytes(await openBytes(db, organizationId, place, blob));
      return typeof value === 'string' ? value : null;
    },
    connectionVault: async (db, connectionId) => {
      const key = await connectionKey(db, connectionId);
      if (key === null) return null;
      const sealing: SealingKey = { id: CONNECTION_KEY_ID, key: deriveKey(key, 'submission-seal/1') };
      const digestKey = deriveKey(key, 'submission-digest/1');
      return {
        seal: (place, value) => seal(sealing, place, toBytes(value)),
        open: (place, blob) => fromBytes(unseal(sealing, place, blob)),
        digest: (text) => createHmac('sha256', digestKey).update(text, 'utf8').digest(),
      };
    },
  };
}

/** A connection has only one data key, so that its id is constant. */
const CONNECTION_KEY_ID = '0'.repeat(32);

function toBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value ?? null), 'utf8');
}

function fromBytes(bytes: Buffer): unknown {
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  return value;
}

const Values = z.record(z.string(), z.string());

/** Validates the opened values of a credential, submission or deployment. */
export function parseValues(opened: unknown): Record<string, string> {
  return Values.parse(opened);
}
