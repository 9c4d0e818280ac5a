import { randomBytes } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { AuditLogEntry, AuditLogFilters } from '../../contract/audit-logs.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { findBrokenSeal, sealRows, type SealedRow } from '../audit-chain.ts';
import type { InstallationKeys } from '../vault/installation-keys.ts';
import { containsText, pageOf, withinScope, type Scope } from '../scope.ts';

/** One request to the API, and whom it belongs to. */
export interface AuditRecord {
  organizationId: string;
  projectId: string | null;
  entry: AuditLogEntry;
}

/** What a page of the log is asked for; without a time or filter, all of it. */
export type AuditLogRequest = Partial<AuditLogFilters> & {
  limit: number;
  /** Where the page before ended. */
  after?: string | undefined;
};

/** The audit log: append and page, newest first. */
export interface AuditLogQueries {
  append(records: readonly AuditRecord[]): Promise<void>;
  /** Throws `invalid_input` for a token that this log did not make. `next` is null on the last page. */
  page(scope: Scope, request: AuditLogRequest): Promise<{ rows: AuditLogEntry[]; next: string | null }>;
  /** Checks that no row was changed or taken out since it was written. Reads all of them, some thousand at a time. */
  verify(): Promise<{ rows: number; broken: { seq: number; fault: 'changed' | 'gap' } | null }>;
}

/** Paths of the browser service. */
const BROWSER_PATHS = sql<boolean>`path ~ '^/(browsers|browser_pools)(/|$)'`;

/** Rows that are verified at a time. */
const ROWS_A_LOOK = 5000;
/** Held while rows are appended, so that those of all processes form one chain. Any number that nothing else takes. */
const APPEND_LOCK = 0x41554454;

/** Queries of the audit log. */
export function createAuditLogQueries(db: Db, installationKeys: InstallationKeys): AuditLogQueries {
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
      await db.transaction().execute(async (trx) => {
        await sql`select pg_advisory_xact_lock(${APPEND_LOCK})`.execute(trx);
        const last = await trx
          .selectFrom('audit_log')
          .select('seal')
          .orderBy('seq', 'desc')
          .limit(1)
          .executeTakeFirst();
        await trx
          .insertInto('audit_log')
          .values(sealRows(sealing, rows, last?.seal ?? null))
          .execute();
      });
    },
    page: async (scope, request) => {
      const { start, end, method, search } = request;
      const excluded = request.exclude_method?.map((each) => each.toUpperCase()) ?? [];
      const users = request.search_user_id ?? [];
      const before = request.after === undefined ? null : readToken(request.after);
      const rows = await db
        .selectFrom('audit_log')
        .selectAll()
        .where(withinScope(scope, 'audit_log'))
        .$if(start !== undefined, (q) => q.where('timestamp', '>=', start ?? new Date(0)))
        .$if(end !== undefined, (q) => q.where('timestamp', '<', end ?? new Date(0)))
        .$if(before !== null, (q) =>
          q.where(sql<boolean>`(timestamp, seq) < (${before?.timestamp}::timestamptz, ${before?.seq}::bigint)`),
        )
        .$if(method !== undefined, (q) => q.where('method', '=', (method ?? '').toUpperCase()))
        .$if(excluded.length > 0, (q) => q.where('method', 'not in', excluded))
        .$if(request.auth_strategy !== undefined, (q) => q.where('auth_strategy', '=', request.auth_strategy ?? ''))
        .$if(request.service !== undefined, (q) => q.where(ofService(request.service ?? '')))
        .$if(search !== undefined || users.length > 0, (q) =>
          q.where((eb) =>
            eb.or([
              ...(search === undefined ? [] : [containsText(SEARCHED, search)]),
              ...(users.length === 0 ? [] : [eb('user_id', 'in', users)]),
            ]),
          ),
        )
        .orderBy('timestamp', 'desc')
        .orderBy('seq', 'desc')
        .limit(request.limit + 1)
        .execute();
      const page = pageOf(rows, request.limit);
      const last = page.rows.at(-1);
      return { rows: page.rows.map(present), next: page.hasMore && last !== undefined ? writeToken(last) : null };
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
          .limit(ROWS_A_LOOK)
          .execute();
        const broken = findBrokenSeal(sealing, rows, previous);
        if (broken !== null) return { rows: count, broken };
        count += rows.length;
        previous = rows.at(-1) ?? null;
        if (previous === null || rows.length < ROWS_A_LOOK) return { rows: count, broken: null };
      }
    },
  };
}

const SEARCHED = sql`lower(path || chr(10) || user_id || chr(10) || email || chr(10) || client_ip || chr(10) || status)`;

function ofService(service: string) {
  if (service === 'browser') return BROWSER_PATHS;
  return service === 'api' ? sql<boolean>`not (${BROWSER_PATHS})` : sql<boolean>`false`;
}

function present(row: Selectable<Database['audit_log']>): AuditLogEntry {
  const { seq: _seq, organization_id: _organization, project_id: _project, timestamp, ...rest } = row;
  const { previous_seal: _previous, seal: _seal, ...entry } = rest;
  return { ...entry, timestamp: timestamp.toISOString() };
}

function writeToken({ timestamp, seq }: { timestamp: Date; seq: number }): string {
  return Buffer.from(`audit:${timestamp.getTime()}:${seq}`).toString('base64url');
}

function readToken(token: string): { timestamp: Date; seq: number } {
  const parts = /^audit:(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString('latin1'));
  if (parts === null)
    throw new HoldfastError(
      'invalid_input',
      '`page_token` or `cursor` is not one of this log; take it from the page before',
    );
  return { timestamp: new Date(Number(parts[1])), seq: Number(parts[2]) };
}
