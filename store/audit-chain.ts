import { createHmac } from 'node:crypto';
import type { Insertable, Selectable } from 'kysely';
import type { Database } from './schema.ts';

type NewRow = Omit<Insertable<Database['audit_log']>, 'previous_seal' | 'seal'>;

/** A stored row. */
export type SealedRow = Selectable<Database['audit_log']>;

/**
 * Chains rows to their predecessors: a seal covers the row and the previous seal, under a key that the database does not
 * contain, so that {@link findBrokenSeal} detects a changed, inserted or removed row. Rows truncated at the end leave no
 * trace; rows at the beginning are deleted by age.
 */
export function sealRows(
  key: Buffer,
  rows: readonly NewRow[],
  previous: Buffer | null,
): Insertable<Database['audit_log']>[] {
  let last = previous;
  return rows.map((row) => {
    const sealed = { ...row, previous_seal: last, seal: computeSeal(key, row, last) };
    last = sealed.seal;
    return sealed;
  });
}

/**
 * The first row, in the order written, that was changed or does not follow its predecessor. Unsealed rows of an older
 * version are skipped, unless a sealed row precedes them.
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
    if (seal === null || !seal.equals(computeSeal(key, row, previous))) return { seq, fault: 'changed' };
    // The predecessor of the first row may have been deleted by age.
    if (last !== null && !isEqual(previous, last.seal)) return { seq, fault: 'gap' };
    last = row;
  }
  return null;
}

function computeSeal(key: Buffer, row: NewRow, previous: Buffer | null): Buffer {
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
