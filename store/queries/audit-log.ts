import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { AuditLogEntry, AuditLogFilters } from '../../contract/audit-logs.ts';
import type { Db } from '../database.ts';
import { findBrokenSeal, sealRows, type SealedRow } from '../audit-chain.ts';
import type { InstallationKeys } from '../vault/installation-keys.ts';
import type { Scope } from '../scope.ts';
import { createAuditLogKinds } from './audit-log-kinds.ts';
import { searchAuditLog, type AuditRow } from './audit-log-lookup.ts';
import { readAuditToken, writeAuditToken, type AuditTokenField } from './audit-log-token.ts';

/** One request to the API, and its organization and project. */
export interface AuditRecord {
  organizationId: string;
  projectId: string | null;
  entry: AuditLogEntry;
}

/** A request for a page of the log; without times or filters, of the whole log. */
export type AuditLogRequest = Partial<AuditLogFilters> & {
  limit: number;
  /** The token of the previous page, and the parameter that carries it (default `page_token`). */
  after?: string | undefined;
  token?: AuditTokenField;
};

/** The audit log. Pages are newest first. */
export interface AuditLogQueries {
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Throws `invalid_input` for a token of another request. `next` is null on the last page. */
  page(scope: Scope, request: AuditLogRequest): Promise<{ rows: AuditLogEntry[]; next: string | null }>;
  /** Verifies that no row was changed or removed since it was written. Reads the whole log in batches. */
  verify(): Promise<{ rows: number; broken: { seq: number; fault: 'changed' | 'gap' } | null }>;
}

const VERIFY_BATCH_SIZE = 5000;

/** Queries of the audit log. */
export function createAuditLogQueries(db: Db, installationKeys: InstallationKeys): AuditLogQueries {
  const kinds = createAuditLogKinds(db);
  /** Months known to have a partition. */
  const months = new Set<string>();
  let key: Promise<Buffer> | null = null;
  const readKey = async (): Promise<Buffer> => {
    const first = randomBytes(32);
    await installationKeys.ensure('audit-log', first);
    const [known] = await installationKeys.all('audit-log');
    return known ?? first;
  };
  const sealingKey = (): Promise<Buffer> =>
    (key ??= readKey().catch((error: unknown) => {
      key = null;
      throw error;
    }));

  return {
    append: async (records) => {
      if (records.length === 0) return;
      const rows = records.map(({ organizationId, projectId, entry }) => ({
        ...entry,
        timestamp: new Date(entry.timestamp),
        organization_id: organizationId,
        project_id: projectId,
      }));
      const sealing = await sealingKey();
      const kindOfRow = await kinds.ensure(rows);
      const month = await db.transaction().execute(async (trx) => {
        const head = await trx.selectFrom('audit_log_head').selectAll().forUpdate().executeTakeFirstOrThrow();
        const times = [head.written_at, ...rows.map(({ timestamp }) => timestamp)].map(Number);
        const writtenAt = new Date(Math.max(...times));
        const monthOf = writtenAt.toISOString().slice(0, 7);
        if (!months.has(monthOf)) await sql`select add_audit_log_partition(${writtenAt})`.execute(trx);
        const sealed = sealRows(
          sealing,
          rows.map((row, index) => ({ ...row, written_at: writtenAt, kind: kindOfRow[index] ?? 0 })),
          head.seal,
        );
        await insertSealed(trx, sealed, writtenAt);
        return monthOf;
      });
      months.add(month);
    },
    page: async (scope, request) => {
      const { limit, token = 'page_token', search_user_id: users = [] } = request;
      const before = request.after === undefined ? null : readAuditToken(token, request, request.after);
      const matching = await kinds.matching(scope, request);
      const rows = await searchAuditLog(db, { ...request, scope, kinds: matching, before, users, limit: limit + 1 });
      const last = rows.length > limit ? rows[limit - 1] : undefined;
      return {
        rows: rows.slice(0, limit).map(present),
        next: last === undefined ? null : writeAuditToken(token, request, last),
      };
    },
    verify: async () => {
      const sealing = await sealingKey();
      let previous: SealedRow | null = null;
      let count = 0;
      for (;;) {
        const rows: SealedRow[] = await db
          .selectFrom('audit_log')
          .selectAll()
          .where('seq', '>', previous?.seq ?? 0)
          .orderBy('seq')
          .limit(VERIFY_BATCH_SIZE)
          .execute();
        const broken = findBrokenSeal(sealing, rows, previous);
        if (broken !== null) return { rows: count, broken };
        for (const row of rows)
          if (row.written_at < row.timestamp || !(await kinds.hasKind(row)))
            return { rows: count, broken: { seq: row.seq, fault: 'changed' } };
        count += rows.length;
        previous = rows.at(-1) ?? null;
        if (previous === null || rows.length < VERIFY_BATCH_SIZE) return { rows: count, broken: null };
      }
    },
  };
}

/** Inserted columns and their types. */
const COLUMNS = [
  ['written_at', 'timestamptz'],
  ['timestamp', 'timestamptz'],
  ['kind', 'integer'],
  ['organization_id', 'text'],
  ['project_id', 'text'],
  ['auth_strategy', 'text'],
  ['user_id', 'text'],
  ['email', 'text'],
  ['status', 'integer'],
  ['method', 'text'],
  ['path', 'text'],
  ['route', 'text'],
  ['domain', 'text'],
  ['duration_ms', 'integer'],
  ['client_ip', 'text'],
  ['user_agent', 'text'],
  ['previous_seal', 'bytea'],
  ['seal', 'bytea'],
] as const;

/** Inserts rows and updates the head in one statement with one parameter per column: every other append waits for it. */
async function insertSealed(trx: Db, rows: ReturnType<typeof sealRows>, writtenAt: Date): Promise<void> {
  const values = COLUMNS.map(([name, type]) => sql`${rows.map((row) => row[name])}::${sql.raw(type)}[]`);
  await sql`with head as (update audit_log_head set seal = ${rows.at(-1)?.seal}, written_at = ${writtenAt})
    insert into audit_log (${sql.join(COLUMNS.map(([name]) => sql.ref(name)))})
    select * from unnest(${sql.join(values)})`.execute(trx);
}

function present(row: AuditRow): AuditLogEntry {
  const { seq: _seq, written_at: _written, kind: _kind, timestamp, ...rest } = row;
  const {
    organization_id: _organization,
    project_id: _project,
    previous_seal: _previous,
    seal: _seal,
    ...entry
  } = rest;
  return { ...entry, timestamp: timestamp.toISOString() };
}
