import type { ColumnType, Generated } from 'kysely';
import type { Plan } from '../../contract/limits.ts';
import type { OAuthAccess } from '../../contract/oauth.ts';
import type { Json, Limit } from './columns.ts';

/** Organizations, their projects, and access: API keys, grants, rate limits. */
export interface OrganizationTables {
  organizations: {
    id: string;
    name: string;
    plan: Plan;
    created_at: Date;
    /** Maximum concurrent sessions of projects without a limit of their own. */
    default_project_max_sessions: Limit;
    /** An owner has turned projects off. */
    projects_disabled: Generated<boolean>;
    /** Maximum connections of all its projects together. */
    max_auth_connections: Limit;
  };
  organization_keys: {
    id: string;
    organization_id: string;
    /** The data key, wrapped by the master key `wrapping_key_id`. */
    wrapped: Buffer;
    wrapping_key_id: string;
    /** An organization has one active key, which seals. Former keys only open, until rotation removes them. */
    active: boolean;
    created_at: Date;
  };
  installation_keys: {
    id: string;
    purpose: string;
    /** The key, wrapped by the master key `wrapping_key_id`. */
    wrapped: Buffer;
    wrapping_key_id: string;
    /** A purpose has one active key; former keys only open what they sealed. */
    active: boolean;
    created_at: Date;
  };
  projects: {
    id: string;
    organization_id: string;
    name: string;
    created_at: Date;
    max_sessions: Limit;
    max_invocations: Limit;
    updated_at: Date;
    archived_at: ColumnType<Date | null, never, Date | null>;
    deleted_at: ColumnType<Date | null, never, Date | null>;
  };
  connection_keys: { connection_id: string; organization_id: string; sealed_key: Buffer };
  api_keys: {
    id: string;
    organization_id: string;
    project_id: string | null;
    name: string;
    hash: Buffer;
    masked_key: string;
    created_by_id: string;
    created_by_email: string;
    created_by_name: string | null;
    created_at: Date;
    expires_at: Date | null;
    deleted_at: Date | null;
    /** The invocation whose program uses the key; such keys appear in no list. */
    invocation_id: string | null;
  };
  oauth_grants: {
    id: string;
    organization_id: string;
    user_id: string;
    project_id: string | null;
    access: OAuthAccess;
    client_id: string;
    client_name: string;
    created_at: Date;
    last_used_at: Date | null;
    expires_at: Date;
  };
  oauth_records: {
    model: string;
    id_hash: Buffer;
    payload: Json<Record<string, unknown>>;
    grant_id: string | null;
    expires_at: Date;
    consumed_at: Date | null;
  };
  handoffs: {
    code_hash: Buffer;
    connection_id: string;
    flow_id: string;
    created_at: Date;
    expires_at: Date;
    redeemed_at: Date | null;
  };
  /** The names are those of the rate limiter library; `expire` is in epoch milliseconds. */
  rate_limits: { key: string; points: number; expire: number | null };
}
