import { HoldfastError } from '../../contract/errors.ts';
import type { Db } from '../database.ts';
import { pageOf, withinScope, type Scope } from '../scope.ts';

/** One request to the API (interface.md, "Audit log entry"). */
export interface AuditEntry {
  timestamp: Date;
  organizationId: string;
  projectId: string | null;
  authStrategy: string;
  userId: string;
  email: string;
  status: number;
  method: string;
  path: string;
  route: string;
  domain: string;
  durationMs: number;
  clientIp: string;
  userAgent: string;
}

/** The audit log: append and page, newest first. */
export interface AuditLogQueries {
  append(entry: AuditEntry): Promise<void>;
  /** Throws `invalid_input` for a page token that this log did not make. */
  page(
    scope: Scope,
    request: { limit: number; pageToken?: string; from?: Date; to?: Date },
  ): Promise<{ rows: AuditEntry[]; nextPageToken: string | null }>;
}

/** Queries of the audit log. */
export function createAuditLogQueries(db: Db): AuditLogQueries {
  return {
    append: async (entry) => {
      await db
        .insertInto('audit_log')
        .values({
          timestamp: entry.timestamp,
          organization_id: entry.organizationId,
          project_id: entry.projectId,
          auth_strategy: entry.authStrategy,
          user_id: entry.userId,
          email: entry.email,
          status: entry.status,
          method: entry.method,
          path: entry.path,
          route: entry.route,
          domain: entry.domain,
          duration_ms: Math.round(entry.durationMs),
          client_ip: entry.clientIp,
          user_agent: entry.userAgent,
        })
        .execute();
    },
    page: async (scope, { limit, pageToken, from, to }) => {
      const before = pageToken === undefined ? Number.MAX_SAFE_INTEGER : readToken(pageToken);
      const rows = await db
        .selectFrom('audit_log')
        .selectAll()
        .where(withinScope(scope, 'audit_log'))
        .where('seq', '<', before)
        .$if(from !== undefined, (q) => q.where('timestamp', '>=', from ?? new Date(0)))
        .$if(to !== undefined, (q) => q.where('timestamp', '<', to ?? new Date(0)))
        .orderBy('seq', 'desc')
        .limit(limit + 1)
        .execute();
      const page = pageOf(rows, limit);
      const last = page.rows.at(-1);
      return {
        rows: page.rows.map((row) => ({
          timestamp: row.timestamp,
          organizationId: row.organization_id,
          projectId: row.project_id,
          authStrategy: row.auth_strategy,
          userId: row.user_id,
          email: row.email,
          status: row.status,
          method: row.method,
          path: row.path,
          route: row.route,
          domain: row.domain,
          durationMs: row.duration_ms,
          clientIp: row.client_ip,
          userAgent: row.user_agent,
        })),
        nextPageToken: page.hasMore && last !== undefined ? writeToken(last.seq) : null,
      };
    },
  };
}

function writeToken(seq: number): string {
  return Buffer.from(`audit:${seq}`).toString('base64url');
}

function readToken(token: string): number {
  const seq = /^audit:(\d{1,15})$/.exec(Buffer.from(token, 'base64url').toString('latin1'))?.[1];
  if (seq === undefined)
    throw new HoldfastError('invalid_input', '`page_token` is not one of this log; take it from the page before');
  return Number(seq);
}
