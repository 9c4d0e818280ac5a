import { sql } from 'kysely';
import type { Db } from '../database.ts';
import { rotateInstallationKey } from './installation-keys.ts';
import { seal, SealBroken, sealedBy, unseal, type SealedPlace, type SealingKey } from './seal.ts';
import { ACTIVE_KEY_CACHE_MS, type KeyTable, type Vault } from './vault.ts';

/** The progress of rotating an organization's key. */
export interface OrganizationKeyRotation {
  /** Values that this call resealed. */
  resealed: number;
  /** Values that cannot be opened. They stay as they are, and prevent the removal of the former key. */
  broken: SealedPlace[];
  /**
   * True once the former key is destroyed. That takes a second call, a minute after the first: until then another process
   * may still seal under the cached former key.
   */
  finished: boolean;
}

/** Options of a rotation. An aborted rotation resumes on the next call. */
export interface RotationOptions {
  batchSize?: number;
  signal?: AbortSignal;
  /** Keeps a data key created under the current master key: an interrupted rotation created it. */
  onlyOlderThanMasterKey?: boolean;
}

/** The progress of rotating all keys. */
export interface KeyRotation extends OrganizationKeyRotation {
  /** Keys that this call rewrapped with the current master key. */
  rewrapped: number;
}

/** The columns sealed under an organization's key, and the column that identifies the row. */
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

/** Columns with values of up to 50 MB, which are read one at a time. */
const LARGE: ReadonlySet<string> = new Set(['deployments.sealed_archive']);

/** How long a former key is retained after the new one became active, in milliseconds. */
const FORMER_KEY_RETENTION_MS = 2 * ACTIVE_KEY_CACHE_MS;

/**
 * Replaces the key of Temporal payloads and of every organization, once per master key, and rewraps all keys with the
 * current master key. Online; repeat until `finished`: from then on former master keys open nothing.
 */
export async function rotateAllKeys(
  db: Db,
  vault: Vault,
  now: () => Date,
  options: RotationOptions = {},
): Promise<KeyRotation> {
  const rotation: KeyRotation = { resealed: 0, broken: [], finished: true, rewrapped: 0 };
  await rotateInstallationKey(db, vault, 'temporal-payloads', now());
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
 * Rewraps every key with the current master key, row by row. Online and safe to repeat.
 * @returns the number of rewrapped keys.
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
 * Replaces the data key of an organization and reseals all its values, row by row. Online; resumes an unfinished
 * rotation.
 */
export async function rotateOrganizationKey(
  db: Db,
  vault: Vault,
  organizationId: string,
  now: Date,
  { batchSize = 100, signal, onlyOlderThanMasterKey = false }: RotationOptions = {},
): Promise<OrganizationKeyRotation> {
  const skipIfWrappedBy = onlyOlderThanMasterKey ? await vault.wrappingKeyId() : null;
  const activeSince = await startOrResume(db, vault, organizationId, now, skipIfWrappedBy);
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
  const finished = broken.length === 0 && now.getTime() - activeSince.getTime() >= FORMER_KEY_RETENTION_MS;
  if (finished)
    await db
      .deleteFrom('organization_keys')
      .where('organization_id', '=', organizationId)
      .where('active', '=', false)
      .execute();
  return { resealed, broken, finished };
}

/**
 * Activates a new key unless a rotation is in progress. Returns the creation time of the active key; null if there is
 * nothing to do, because the only key is wrapped by `skipIfWrappedBy`.
 */
function startOrResume(
  db: Db,
  vault: Vault,
  organizationId: string,
  now: Date,
  skipIfWrappedBy: string | null,
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
    if (active?.wrapping_key_id === skipIfWrappedBy) return null;
    await trx
      .updateTable('organization_keys')
      .set({ active: false })
      .where('organization_id', '=', organizationId)
      .execute();
    await vault.createOrganizationKey(trx, organizationId, now);
    return now;
  });
}

/** The result of a batch; `last` is the id of its last row, null if no rows are left. */
interface Batch {
  resealed: number;
  broken: SealedPlace[];
  last: string | null;
}

/** A batch of rows of a column, whose ids follow `after`. */
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
    // A sealed value starts with a format byte and the 16-byte id of its key.
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
