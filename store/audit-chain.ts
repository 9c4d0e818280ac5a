import { createHmac } from 'node:crypto';
import type { Insertable, Selectable } from 'kysely';
import type { Database } from './schema.ts';

type NewRow = Omit<Insertable<Database['audit_log']>, 'previous_seal' | 'seal'>;

/** A row as the log holds it. */
export type SealedRow = Selectable<Database['audit_log']>;

/**
 * Binds rows to each other and to the one before them: a seal covers the row and the seal before it, under a key that the
 * database does not show, so that a row that is changed, put in or taken out is found ({@link findBrokenSeal}). Rows cut off
 * at the end leave no trace; those at the beginning go by age.
 */
export function sealRows(
  key: Buffer,
  rows: readonly NewRow[],
  previous: Buffer | null,
): Insertable<Database['audit_log']>[] {
  let last = previous;
  return rows.map((row) => {
    const sealed = { ...row, previous_seal: last, seal: sealOf(key, row, last) };
    last = sealed.seal;
    return sealed;
  });
}

/**
 * The first row, in the order written, that is not as it was written or does not follow the one before it. Rows that an older
 * version wrote have no seal and are passed over, unless one with a seal is before them.
 */
export function findBrokenSeal(
  key: Buffer,
  rows: readonly SealedRow[],
  before: SealedRow | null,
): { seq: number; fault: 'changed' | 'gap' } | null {
  let last = before;
  for (const row of rows) {
    const { seq, seal, previous_seal: previous } = row;
    if (seal === null && (last?.seal ?? null) === null) {
      last = row;
      continue;
    }
    if (seal === null || !seal.equals(sealOf(key, row, previous))) return { seq, fault: 'changed' };
    // What is before the first row may have gone by age.
    if (last !== null && !isEqual(previous, last.seal)) return { seq, fault: 'gap' };
    last = row;
  }
  return null;
}

function sealOf(key: Buffer, row: NewRow, previous: Buffer | null): Buffer {
  const content = [
    new Date(row.timestamp).toISOString(),
    row.organization_id,
    row.project_id ?? null,
    row.auth_strategy,
    row.user_id,
    row.email,
    row.status,
    row.method,
    row.path,
    row.route,
    row.domain,
    row.duration_ms,
    row.client_ip,
    row.user_agent,
  ];
  return createHmac('sha256', key)
    .update(previous ?? '')
    .update(JSON.stringify(content))
    .digest();
}

function isEqual(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : left.equals(right);
}
