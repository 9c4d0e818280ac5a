import { createHmac, randomBytes } from 'node:crypto';
import { HoldfastError } from '../../contract/errors.ts';
import type { Db } from '../database.ts';
import { deriveKey } from './derive.ts';
import type { KeyWrapper } from './key-wrapper.ts';
import { KEY_BYTES, newKeyId, seal, SealBroken, sealedBy, unseal, type SealedPlace, type SealingKey } from './seal.ts';

/**
 * Encryption of what the tables hold. Every function takes the database handle of its caller: within a transaction that is
 * the transaction, so that what it reads and writes belongs to it.
 */
export interface Vault {
  /** Makes the first data key of an organization, or does nothing when it has one. */
  createOrganizationKey(db: Db, organizationId: string, now: Date): Promise<void>;
  /** Seals a JSON value under the organization's active key. */
  sealJson(db: Db, organizationId: string, place: SealedPlace, value: unknown): Promise<Buffer>;
  /** Opens what `sealJson` made. The caller knows the type that it sealed. */
  openJson(db: Db, organizationId: string, place: SealedPlace, blob: Buffer): Promise<unknown>;
  /** The data key of a connection, made on first use. Null when the connection is removed (its key with it). */
  connectionVault(db: Db, connectionId: string): Promise<ConnectionVault | null>;
  /** The active key of an organization, freshly read. */
  activeKey(db: Db, organizationId: string): Promise<SealingKey>;
  /** A key by id. Throws {@link SealBroken} when the organization has none such. */
  keyById(db: Db, organizationId: string, keyId: string): Promise<SealingKey>;
}

/** Seals under the data key of one connection. */
export interface ConnectionVault {
  seal(place: SealedPlace, value: unknown): Buffer;
  open(place: SealedPlace, blob: Buffer): unknown;
  /** A digest that only the holder of the key can compute or compare. */
  digest(text: string): Buffer;
}

/** What {@link createVault} needs. `retired` wrappers only unwrap: they serve while a rotation is under way. */
export interface VaultDeps {
  wrapper: KeyWrapper;
  retired?: KeyWrapper[];
}

/** Where a connection's data key lives. */
export function connectionKeyPlace(connectionId: string): SealedPlace {
  return { table: 'connection_keys', column: 'sealed_key', rowId: connectionId };
}

/** Where an organization's wrapped data key lives. */
export function organizationKeyPlace(keyId: string): SealedPlace {
  return { table: 'organization_keys', column: 'wrapped', rowId: keyId };
}

/** How long a process trusts its memory of which organization key is the active one, in milliseconds. */
export const ACTIVE_KEY_MEMORY_MS = 30_000;

/** The vault over the tables `organization_keys` and `connection_keys`. Unwrapped keys stay in this process's memory. */
export function createVault({ wrapper, retired = [] }: VaultDeps): Vault {
  const keys = new Map<string, SealingKey>();
  const active = new Map<string, { keyId: string; until: number }>();

  async function unwrapKey(row: { id: string; wrapped: Buffer; wrapping_key_id: string }): Promise<SealingKey> {
    const known = keys.get(row.id);
    if (known !== undefined) return known;
    const fitting = [wrapper, ...retired].find((candidate) => candidate.keyId === row.wrapping_key_id);
    if (fitting === undefined)
      throw new HoldfastError(
        'internal_error',
        'The master key is not the one this store was made with; give that one (HOLDFAST_MASTER_KEY).',
      );
    const key = { id: row.id, key: await fitting.unwrap(row.wrapped, organizationKeyPlace(row.id)) };
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
    if (row === undefined) throw new HoldfastError('not_found', 'The organization has no data key.');
    active.set(organizationId, { keyId: row.id, until: Date.now() + ACTIVE_KEY_MEMORY_MS });
    return unwrapKey(row);
  }

  async function rememberedActiveKey(db: Db, organizationId: string): Promise<SealingKey> {
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
    if (row === undefined) throw new SealBroken('The key that sealed this value is not here.');
    return unwrapKey(row);
  }

  async function createOrganizationKey(db: Db, organizationId: string, now: Date): Promise<void> {
    const id = newKeyId();
    const wrapped = await wrapper.wrap(randomBytes(KEY_BYTES), organizationKeyPlace(id));
    await db
      .insertInto('organization_keys')
      .values({
        id,
        organization_id: organizationId,
        wrapped,
        wrapping_key_id: wrapper.keyId,
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
    const sealing = await rememberedActiveKey(db, owner.organization_id);
    const sealedKey = seal(sealing, place, randomBytes(KEY_BYTES));
    // Of two that make the key at once one wins; both then read the winner's. A connection removed meanwhile gets none.
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

  return {
    createOrganizationKey,
    activeKey,
    keyById,
    sealJson: async (db, organizationId, place, value) =>
      seal(await rememberedActiveKey(db, organizationId), place, toBytes(value)),
    openJson: async (db, organizationId, place, blob) =>
      fromBytes(unseal(await keyById(db, organizationId, sealedBy(blob)), place, blob)),
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

/** A connection has one data key, so its name says nothing. */
const CONNECTION_KEY_ID = '0'.repeat(32);

function toBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value ?? null), 'utf8');
}

function fromBytes(bytes: Buffer): unknown {
  const value: unknown = JSON.parse(bytes.toString('utf8'));
  return value;
}
