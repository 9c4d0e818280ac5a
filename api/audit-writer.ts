import type { AuditRecord } from '../store/queries/audit-log.ts';
import type { ApiDeps } from './context.ts';

/** Most rows that one write takes. */
const ROWS_A_WRITE = 500;

/** Writes rows of the audit log, those that wait at the same time in one write. */
export interface AuditWriter {
  /** Resolves when the row is in the log; rejects when it could not be written. */
  write(record: AuditRecord): Promise<void>;
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>;
}

/** The writer of one process. */
export function createAuditWriter({ store }: Pick<ApiDeps, 'store'>): AuditWriter {
  const waiting: AuditRecord[] = [];
  /** Writes what waits; those who come while another write is under way share the next one. */
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    await last.catch(() => undefined);
    next = null;
    const batch = waiting.splice(0);
    for (let from = 0; from < batch.length; from += ROWS_A_WRITE)
      await store.auditLog.append(batch.slice(from, from + ROWS_A_WRITE));
  };
  return {
    write: (record) => {
      waiting.push(record);
      if (next === null) last = next = writeAll();
      return next;
    },
    drain: () => last.catch(() => undefined),
  };
}
