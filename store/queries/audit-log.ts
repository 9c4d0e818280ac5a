import type { Scope } from "../scope.ts";

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
