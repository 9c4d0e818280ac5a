import type { Generated } from 'kysely';
import type { AuditExportDestination } from '../../contract/audit-export.ts';

/** The audit log, and where it is exported to. */
export interface AuditLogTables {
  audit_log: {
    seq: Generated<number>;
    /** By its month the row has its partition. Never before `timestamp`, nor before that of the row before it. */
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
  /** One row: what was written to the audit log last. */
  audit_log_head: { only_one: Generated<boolean>; seal: Buffer | null; written_at: Date };
  /** What rows of the audit log are filtered by. No project is the empty text. */
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
    /** Grows when delivery begins anew: what an upload from before has to say counts no more. */
    activation: number;
    /** Rows of the audit log up to this time, and this number within it, are delivered. */
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
