import { createHash } from 'node:crypto';
import type { AuditLogFilters } from '../../contract/audit-logs.ts';
import { invalidField } from '../../contract/errors.ts';

/** The query parameters that go on from where rows ended, one for each operation that reads the log. */
export type AuditTokenField = 'page_token' | 'cursor';

/** Where rows end: the next begin with the first that is older. */
export interface AuditPosition {
  timestamp: Date;
  seq: number;
}

/** A token that goes on after `position`, by the same parameter and with the same filters alone. */
export function writeAuditToken(
  field: AuditTokenField,
  filters: Partial<AuditLogFilters>,
  { timestamp, seq }: AuditPosition,
): string {
  return Buffer.from(`audit:${field}:${timestamp.getTime()}:${seq}:${digestOf(filters)}`).toString('base64url');
}

/** Throws `invalid_input`, by the parameter's name, for a token of the other one, of other filters, or of nobody. */
export function readAuditToken(
  field: AuditTokenField,
  filters: Partial<AuditLogFilters>,
  token: string,
): AuditPosition {
  const [, ofField, moment, seq, digest] =
    /^audit:(\w+):(\d{1,15}):(\d{1,15}):([\w-]+)$/.exec(Buffer.from(token, 'base64url').toString('latin1')) ?? [];
  if (ofField !== field) {
    const source =
      field === 'cursor' ? 'X-Next-Cursor of GET /audit-logs/export/chunk' : 'X-Next-Page-Token of GET /audit-logs';
    throw invalidField(field, `must be from ${source}`);
  }
  if (digest !== digestOf(filters)) throw invalidField(field, 'is of other filters; send those that it came with');
  return { timestamp: new Date(Number(moment)), seq: Number(seq) };
}

/** The same for filters that mean the same. */
function digestOf(filters: Partial<AuditLogFilters>): string {
  const { start, end, method, exclude_method, auth_strategy, service, search, search_user_id } = filters;
  const meant = [
    start?.getTime(),
    end?.getTime(),
    method?.toUpperCase(),
    exclude_method?.map((each) => each.toUpperCase()).toSorted(),
    auth_strategy,
    service,
    search?.toLowerCase(),
    search_user_id?.toSorted(),
  ];
  return createHash('sha256').update(JSON.stringify(meant)).digest('base64url').slice(0, 16);
}
