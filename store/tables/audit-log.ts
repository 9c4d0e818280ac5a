import type { Generated } from 'kysely';
import type { AuditExportDestination } from '../../contract/audit-export.ts';

/** The audit log, and its export destinations. */
export interface AuditLogTables {
  audit_log: {
    seq: Generated<number>;
    /** Its month determines the partition. Never before `timestamp`, nor before that of the previous row. */
    written_at: Date;
    timestamp: Date;
    /** Id in `audit_log_kinds`. */
    kind: number;
    organization_id: string;
    project_id: string | null;
    auth_strategy: string;
    user_id: string;
    email: string;
    status: number;
    method: string;
    path: string;
    route: string;
    domain: string;
    duration_ms: number;
    client_ip: string;
    user_agent: string;
    /** Null in rows of an older version. */
    previous_seal: Buffer | null;
    seal: Buffer | null;
  };
  /** A single row: the seal and time of the last append. */
  audit_log_head: { only_one: Generated<boolean>; seal: Buffer | null; written_at: Date };
  /** The combinations that rows of the audit log are filtered by. No project is the empty string. */
  audit_log_kinds: {
    id: Generated<number>;
    organization_id: string;
    project_id: string;
    method: string;
    auth_strategy: string;
    service: string;
  };
  audit_export_destinations: {
    id: string;
    organization_id: string;
    region: string;
    bucket: string;
    prefix: string;
    role_arn: string;
    external_id: string;
    kms_key_id: string | null;
    status: AuditExportDestination['status'];
    /** Incremented when delivery restarts, which invalidates uploads of earlier activations. */
    activation: number;
    /** Rows up to this time, and up to this number within it, are delivered. */
    exported_at: Date;
    exported_seq: number;
    last_exported_cursor: string | null;
    consecutive_failures: number;
    last_error: string | null;
    last_error_at: Date | null;
    last_success_at: Date | null;
    next_attempt_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
}
