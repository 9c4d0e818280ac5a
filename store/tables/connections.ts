import type { ColumnType, Generated } from 'kysely';
import type { CodeSourceType } from '../../contract/code-sources.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { CredentialProviderType } from '../../contract/credential-providers.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { PasskeyName } from '../../contract/passkeys.ts';
import type { Json } from './columns.ts';

/** The progress of typing for one interaction. */
export type TypingState = 'intent' | 'typed' | 'pressed' | 'observed';

/** Connections with their history, and the secrets typed for them. */
export interface ConnectionTables {
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
    /** Lower-case domain and profile name, one per line, for substring searches. */
    search: string;
    document: Json<ConnectionDocument>;
    /** Name of the stored credential that its settings refer to. */
    credential_name: string | null;
    /** The phone number and email address that receive its codes. */
    code_phone: string | null;
    code_email: string | null;
    revision: number;
    created_at: Date;
    updated_at: Date;
    /** Set on removal. The row stays as a tombstone, so that a late write of its workflow has no effect. */
    deleted_at: Date | null;
  };
  /** Slots in the schedule of health checks, by interval; null is free. */
  check_slots: { interval_seconds: number; slot: number; connection_id: string | null };
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
    sealed_passkeys: Buffer | null;
    passkeys: ColumnType<PasskeyName[], string, string>;
    value_keys: string[];
    value_origins: ColumnType<Record<string, string>, string, string>;
    version: number;
    search: string;
    created_at: Date;
    updated_at: Date;
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
  code_sources: {
    id: string;
    organization_id: string;
    project_id: string;
    source_type: CodeSourceType;
    sealed_secret: Buffer;
    created_at: Date;
  };
  submissions: {
    id: string;
    connection_id: string;
    interaction_id: string;
    /** Keyed digest of interaction and values: detects a retry without storing the values. */
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
  totp_uses: { credential_id: string; period_counter: number; at: Date };
}
