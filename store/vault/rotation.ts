import { sql } from 'kysely';
import type { Db } from '../database.ts';
import { renewInstallationKey } from './installation-keys.ts';
import { seal, SealBroken, sealedBy, unseal, type SealedPlace, type SealingKey } from './seal.ts';
import { ACTIVE_KEY_MEMORY_MS, type KeyTable, type Vault } from './vault.ts';

/** What the change of an organization's key has done so far. */
export interface OrganizationKeyRotation {
  /** Values that this call sealed anew. */
  resealed: number;
  /** Values that do not open, by table, column and row: they stay as they are, and keep the former key in place. */
  broken: SealedPlace[];
  /**
   * True once the former key is destroyed. That takes a second call, a minute after the first: until then another process
   * may still seal under the former key, not knowing better.
   */
  finished: boolean;
}

/** How a rotation runs: rows at a time, and a way to stop it. It goes on where it was when called again. */
export interface RotationOptions {
  batchSize?: number;
  signal?: AbortSignal;
  /** Keep a data key that was made under the present master key: a rotation that was killed has made it. */
  onlyOlderThanMasterKey?: boolean;
}

/** What a change of all keys has done so far. */
export interface KeyRotation extends OrganizationKeyRotation {
  /** Keys that this call wrapped by the present master key. */
  rewrapped: number;
}

/** What is sealed under an organization's key: table, column, and the column that names the row. */
const SEALED_COLUMNS = [
  { table: 'connection_keys', column: 'sealed_key', rowId: 'connection_id' },
  { table: 'profiles', column: 'sealed_state', rowId: 'id' },
  { table: 'credentials', column: 'sealed_values', rowId: 'id' },
  { table: 'credentials', column: 'sealed_totp_secret', rowId: 'id' },
  { table: 'credentials', column: 'sealed_passkeys', rowId: 'id' },
  { table: 'proxies', column: 'sealed_password', rowId: 'id' },
  { table: 'credential_providers', column: 'sealed_token', rowId: 'id' },
  { table: 'webhooks', column: 'sealed_secret', rowId: 'id' },
  { table: 'webhooks', column: 'sealed_former_secret', rowId: 'id' },
  { table: 'code_sources', column: 'sealed_secret', rowId: 'id' },
  { table: 'recording_parts', column: 'sealed_part', rowId: 'id' },
  { table: 'deployments', column: 'sealed_env_vars', rowId: 'id' },
  { table: 'deployments', column: 'sealed_archive', rowId: 'id' },
  { table: 'invocations', column: 'sealed_payload', rowId: 'id' },
  { table: 'invocations', column: 'sealed_outcome', rowId: 'id' },
  { table: 'app_events', column: 'sealed_body', rowId: 'id' },
  { table: 'users', column: 'sealed_totp_secret', rowId: 'id' },
  { table: 'users', column: 'sealed_pending_password', rowId: 'id' },
] as const;

/** Of these a value may have 50 MB: one at a time is in memory, whatever the batch. */
const LARGE: ReadonlySet<string> = new Set(['deployments.sealed_archive']);

/** How long a former key is kept after the new one became active, in milliseconds. */
const FORMER_KEY_KEPT_MS = 2 * ACTIVE_KEY_MEMORY_MS;

/**
 * Gives the payloads in Temporal and every organization a new key, once for each master key, and wraps all keys by the
 * present master key, while others read and write. Repeat it until `finished`: then former master keys open nothing more.
 */
export async function rotateAllKeys(
  db: Db,
  vault: Vault,
  now: () => Date,
  options: RotationOptions = {},
): Promise<KeyRotation> {
  const rotation: KeyRotation = { resealed: 0, broken: [], finished: true, rewrapped: 0 };
  await renewInstallationKey(db, vault, 'temporal-payloads', now());
  for (const { id } of await db.selectFrom('organizations').select('id').orderBy('id').execute()) {
    const one = await rotateOrganizationKey(db, vault, id, now(), { ...options, onlyOlderThanMasterKey: true });
    rotation.resealed += one.resealed;
    rotation.broken.push(...one.broken);
    rotation.finished &&= one.finished;
  }
  rotation.rewrapped = await rotateMasterKey(db, vault);
  return rotation;
}

/**
 * Wraps every key anew by the present master key, one row at a time, while others read and write. Safe to repeat.
 * @returns how many keys were wrapped anew.
 */
export async function rotateMasterKey(db: Db, vault: Vault): Promise<number> {
  const current = await vault.wrappingKeyId();
  let rewrapped = 0;
  for (const table of ['organization_keys', 'installation_keys'] as const satisfies readonly KeyTable[]) {
    const rows = await db.selectFrom(table).select('id').where('wrapping_key_id', '!=', current).execute();
    for (const { id } of rows) {
      await db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom(table)
          .select(['id', 'wrapped', 'wrapping_key_id'])
          .where('id', '=', id)
          .where('wrapping_key_id', '!=', current)
          .forUpdate()
          .executeTakeFirst();
        if (row === undefined) return;
        const wrapped = await vault.wrap(table, id, await vault.unwrap(table, row));
        await trx.updateTable(table).set(wrapped).where('id', '=', id).execute();
        rewrapped += 1;
      });
    }
  }
  return rewrapped;
}

/**
 * Gives an organization a new data key and seals all its values under it, row by row, while others read and write. A call
 * that finds a rotation unfinished goes on with that one.
 */
export async function rotateOrganizationKey(
  db: Db,
  vault: Vault,
  organizationId: string,
  now: Date,
  { batchSize = 100, signal, onlyOlderThanMasterKey = false }: RotationOptions = {},
): Promise<OrganizationKeyRotation> {
  const keepsKeyOf = onlyOlderThanMasterKey ? await vault.wrappingKeyId() : null;
  const activeSince = await startOrResume(db, vault, organizationId, now, keepsKeyOf);
  if (activeSince === null) return { resealed: 0, broken: [], finished: true };
  const active = await vault.activeKey(db, organizationId);
  const broken: SealedPlace[] = [];
  let resealed = 0;
  for (const column of SEALED_COLUMNS) {
    const atOnce = LARGE.has(`${column.table}.${column.column}`) ? 1 : batchSize;
    for (let after: string | null = ''; after !== null;) {
      signal?.throwIfAborted();
      const batch: Batch = await resealBatch(db, vault, { organizationId, active, column, after, batchSize: atOnce });
      resealed += batch.resealed;
      broken.push(...batch.broken);
      after = batch.last;
    }
  }
  const finished = broken.length === 0 && now.getTime() - activeSince.getTime() >= FORMER_KEY_KEPT_MS;
  if (finished)
    await db
      .deleteFrom('organization_keys')
      .where('organization_id', '=', organizationId)
      .where('active', '=', false)
      .execute();
  return { resealed, broken, finished };
}

/**
 * Makes a new key active unless a rotation is under way. Answers since when the active key is; null when there is nothing to
 * do, because the only key was made under the master key `keepsKeyOf`.
 */
function startOrResume(
  db: Db,
  vault: Vault,
  organizationId: string,
  now: Date,
  keepsKeyOf: string | null,
): Promise<Date | null> {
  return db.transaction().execute(async (trx) => {
    const keys = await trx
      .selectFrom('organization_keys')
      .select(['active', 'created_at', 'wrapping_key_id'])
      .where('organization_id', '=', organizationId)
      .forUpdate()
      .execute();
    const active = keys.find((key) => key.active);
    if (active !== undefined && keys.length > 1) return active.created_at;
    if (active?.wrapping_key_id === keepsKeyOf) return null;
    await trx
      .updateTable('organization_keys')
      .set({ active: false })
      .where('organization_id', '=', organizationId)
      .execute();
    await vault.createOrganizationKey(trx, organizationId, now);
    return now;
  });
}

/** What became of a few rows; `last` names the last of them, null when no row is left. */
interface Batch {
  resealed: number;
  broken: SealedPlace[];
  last: string | null;
}

/** Which rows come next: those of a column whose row id follows `after`. */
interface BatchRequest {
  organizationId: string;
  active: SealingKey;
  column: (typeof SEALED_COLUMNS)[number];
  after: string;
  batchSize: number;
}

function resealBatch(db: Db, vault: Vault, request: BatchRequest): Promise<Batch> {
  const { organizationId, active, after, batchSize } = request;
  const { table, column, rowId } = request.column;
  return db.transaction().execute(async (trx) => {
    // A sealed value starts with a format byte and the 16 bytes of its key's id.
    const { rows } = await sql<{ id: string; blob: Buffer }>`
      select ${sql.ref(rowId)} as id, ${sql.ref(column)} as blob from ${sql.table(table)}
      where organization_id = ${organizationId} and ${sql.ref(rowId)} > ${after}
        and substring(${sql.ref(column)} from 2 for 16) <> ${Buffer.from(active.id, 'hex')}
      order by ${sql.ref(rowId)} limit ${batchSize} for update`.execute(trx);
    const broken: SealedPlace[] = [];
    for (const { id, blob } of rows) {
      const place = { table, column, rowId: id };
      try {
        const former = await vault.keyById(trx, organizationId, sealedBy(blob));
        const resealed = seal(active, place, unseal(former, place, blob));
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${resealed}
          where ${sql.ref(rowId)} = ${id}`.execute(trx);
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        broken.push(place);
      }
    }
    const last = rows.length < batchSize ? null : (rows.at(-1)?.id ?? null);
    return { resealed: rows.length - broken.length, broken, last };
  });
}
