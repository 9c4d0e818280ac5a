import type { ColumnType, Generated } from 'kysely';
import type { TimelineEvent } from '../contract/connections.ts';
import type { ConnectionDocument } from '../contract/document.ts';
import type { Plan } from '../contract/limits.ts';
import type { CredentialProviderType } from '../contract/credential-providers.ts';
import type { ProxyProtocol, ProxyStatus } from '../contract/proxies.ts';

/** How far the typing of one interaction has come. */
export type TypingState = 'intent' | 'typed' | 'pressed' | 'observed';

/**
 * The tables, as the query builder sees them. `sealed…` columns hold ciphertexts of the vault (vault/seal.ts). Documents are
 * `json`, not `jsonb`: they are read whole, and `jsonb` refuses what a page's text may hold (NUL, lone surrogates).
 */
export interface Database {
  organizations: { id: string; name: string; plan: Plan; created_at: Date };
  organization_keys: {
    id: string;
    organization_id: string;
    /** The data key, wrapped by the master key `wrapping_key_id`. */
    wrapped: Buffer;
    wrapping_key_id: string;
    /** One key of an organization is active: it seals. The others only open, until rotation has removed them. */
    active: boolean;
    created_at: Date;
  };
  installation_keys: {
    id: string;
    purpose: string;
    /** The key, wrapped by the master key `wrapping_key_id`. */
    wrapped: Buffer;
    wrapping_key_id: string;
    /** One key of a purpose is in use; the others only open what they sealed. */
    active: boolean;
    created_at: Date;
  };
  connection_keys: { connection_id: string; organization_id: string; sealed_key: Buffer };
  projects: { id: string; organization_id: string; name: string; created_at: Date };
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
  };
  profiles: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    sealed_state: Buffer | null;
    revision: number;
    created_at: Date;
    updated_at: Date;
    last_used_at: Date | null;
  };
  connections: {
    id: string;
    organization_id: string;
    project_id: string;
    profile_name: string;
    domain: string;
    /** Lower-case domain and profile name, a line each: what a substring query looks through. */
    search: string;
    document: Json<ConnectionDocument>;
    /** Name of the stored credential that its settings refer to. */
    credential_name: string | null;
    revision: number;
    created_at: Date;
    updated_at: Date;
    /** A removed connection leaves this tombstone, so that a late write of its workflow finds nothing to change. */
    deleted_at: Date | null;
  };
  connection_states: {
    seq: Generated<number>;
    connection_id: string;
    revision: number;
    document: Json<ConnectionDocument>;
    at: Date;
  };
  timeline_events: {
    id: string;
    connection_id: string;
    type: TimelineEvent['type'];
    at: Date;
    event: Json<TimelineEvent>;
  };
  credentials: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string;
    domain: string;
    sso_provider: string | null;
    sealed_values: Buffer;
    sealed_totp_secret: Buffer | null;
    value_keys: string[];
    value_origins: ColumnType<Record<string, string>, string, string>;
    version: number;
    search: string;
    created_at: Date;
    updated_at: Date;
  };
  proxies: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    protocol: ProxyProtocol;
    host: string;
    port: number;
    username: string | null;
    /** Null without one, and once the proxy is deleted. */
    sealed_password: Buffer | null;
    bypass_hosts: string[];
    /** Null before the first check. */
    status: ProxyStatus | null;
    last_checked_at: Date | null;
    /** Lower-case name and host, a line each. */
    search: string;
    created_at: Date;
    deleted_at: Date | null;
  };
  credential_providers: {
    id: string;
    organization_id: string;
    name: string;
    provider_type: CredentialProviderType;
    address: string | null;
    mount: string | null;
    namespace: string | null;
    region: string | null;
    sealed_token: Buffer;
    cache_ttl_seconds: number;
    enabled: boolean;
    priority: number;
    /** Lower-case name. */
    search: string;
    created_at: Date;
    updated_at: Date;
  };
  recordings: {
    id: string;
    organization_id: string;
    project_id: string;
    connection_id: string;
    session_id: string;
    bytes: number;
    started_at: Date;
    finished_at: Date;
    expires_at: Date;
  };
  recording_parts: {
    id: string;
    organization_id: string;
    recording_id: string;
    number: number;
    sealed_part: Buffer;
  };
  submissions: {
    id: string;
    connection_id: string;
    interaction_id: string;
    /** Keyed digest of interaction and values: tells a retry without keeping the values. */
    digest: Buffer;
    /** Null once destroyed. */
    sealed_values: Buffer | null;
    created_at: Date;
    expires_at: Date;
  };
  typing_ledger: {
    flow_id: string;
    interaction_id: string;
    connection_id: string;
    submission_id: string | null;
    state: TypingState;
    at: Date;
  };
  /** `key` and `points` are named by the library that counts; `expire` is milliseconds since 1970. */
  rate_limits: { key: string; points: number; expire: number | null };
  totp_uses: { credential_id: string; period_counter: number; at: Date };
  handoffs: {
    code_hash: Buffer;
    connection_id: string;
    flow_id: string;
    created_at: Date;
    expires_at: Date;
    redeemed_at: Date | null;
  };
  audit_log: {
    seq: Generated<number>;
    timestamp: Date;
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
  };
}

/** Read as a value, written as text. */
type Json<Value> = ColumnType<Value, string, string>;
