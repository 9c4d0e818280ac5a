import type { Db } from '../database.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';

/** How many archives one sweep seals or deletes; each may have 50 MB. */
const ARCHIVES_PER_SWEEP = 10;
/** How long the archive of an ended deployment is retained, in milliseconds: an invocation may just be starting. */
const RETENTION_MS = 60 * 60_000;

/** The place of a sealed archive. */
export function archivePlace(deploymentId: string): SealedPlace {
  return { table: 'deployments', column: 'sealed_archive', rowId: deploymentId };
}

/** Opens the archive of a deployment; null if it was deleted. */
export async function openArchive(db: Db, vault: Vault, id: string): Promise<Buffer | null> {
  const row = await db
    .selectFrom('deployments')
    .select(['organization_id', 'archive', 'sealed_archive'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return null;
  if (row.sealed_archive === null) return row.archive;
  return vault.openBytes(db, row.organization_id, archivePlace(id), row.sealed_archive);
}

/** Seals a few archives that an older version stored unsealed. Returns how many. */
export async function sealArchives(db: Db, vault: Vault): Promise<number> {
  const rows = await db
    .selectFrom('deployments')
    .select('id')
    .where('archive', 'is not', null)
    .orderBy('id')
    .limit(ARCHIVES_PER_SWEEP)
    .execute();
  for (const { id } of rows) {
    await db.transaction().execute(async (trx) => {
      const row = await trx
        .selectFrom('deployments')
        .select(['organization_id', 'archive'])
        .where('id', '=', id)
        .where('archive', 'is not', null)
        .forUpdate()
        .executeTakeFirst();
      if (row === undefined || row.archive === null) return;
      const sealed_archive = await vault.sealBytes(trx, row.organization_id, archivePlace(id), row.archive);
      await trx.updateTable('deployments').set({ archive: null, sealed_archive }).where('id', '=', id).execute();
    });
  }
  return rows.length;
}

/**
 * Deletes archives and environment values of a few failed or stopped deployments that have no running invocation. Returns
 * how many.
 */
export async function deleteArchives(db: Db, now: Date): Promise<number> {
  const running = db.selectFrom('invocations').select('deployment_id').where('finished_at', 'is', null);
  const ended = db
    .selectFrom('deployments')
    .select('id')
    .where('status', 'in', ['failed', 'stopped'])
    .where('updated_at', '<=', new Date(now.getTime() - RETENTION_MS))
    .where((eb) =>
      eb.or([
        eb('archive', 'is not', null),
        eb('sealed_archive', 'is not', null),
        eb('sealed_env_vars', 'is not', null),
      ]),
    )
    .where('id', 'not in', running)
    .orderBy('id')
    .limit(ARCHIVES_PER_SWEEP);
  const { numUpdatedRows } = await db
    .updateTable('deployments')
    .set({ archive: null, sealed_archive: null, sealed_env_vars: null })
    .where('id', 'in', ended)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
