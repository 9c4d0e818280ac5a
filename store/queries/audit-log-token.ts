import { createHash } from 'node:crypto';
import type { AuditLogFilters } from '../../contract/audit-logs.ts';
import { invalidField } from '../../contract/errors.ts';

/** The query parameters that continue a read of the log, one per operation. */
export type AuditTokenField = 'page_token' | 'cursor';

/** The last row of a page; the next page starts with the first older row. */
export interface AuditPosition {
  timestamp: Date;
  seq: number;
}

/** A token to continue after a position, valid only for the same parameter and the same filters. */
export function writeAuditToken(
  field: AuditTokenField,
  filters: Partial<AuditLogFilters>,
  { timestamp, seq }: AuditPosition,
): string {
  return Buffer.from(`audit:${field}:${timestamp.getTime()}:${seq}:${digestOf(filters)}`).toString('base64url');
}

/** Throws `invalid_input` for a token of another parameter, of other filters, or that we did not issue. */
export function readAuditToken(
  field: AuditTokenField,
  filters: Partial<AuditLogFilters>,
  token: string,
): AuditPosition {
  const [, tokenField, time, seq, digest] =
    /^audit:(\w+):(\d{1,15}):(\d{1,15}):([\w-]+)$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? [];
  if (tokenField !== field) {
    const source =
      field === 'cursor' ? 'X-Next-Cursor of GET /audit-logs/export/chunk' : 'X-Next-Page-Token of GET /audit-logs';
    throw invalidField(field, `must be from ${source}`);
  }
  if (digest !== digestOf(filters)) throw invalidField(field, 'was issued for other filters; send the same filters');
  return { timestamp: new Date(Number(time)), seq: Number(seq) };
}

/** Equal for equivalent filters. */
function digestOf(filters: Partial<AuditLogFilters>): string {
  const { start, end, method, exclude_method, auth_strategy, service, search, search_user_id } = filters;
  const normalized = [
    start?.getTime(),
    end?.getTime(),
    method?.toUpperCase(),
    exclude_method?.map((each) => each.toUpperCase()).toSorted(),
    auth_strategy,
    service,
    search?.toLowerCase(),
    search_user_id?.toSorted(),
  ];
  return createHash('sha256').update(JSON.stringify(normalized)).digest('base64url').slice(0, 16);
}
