import type { ColumnType, Generated } from 'kysely';
import type { BrowserPoolConfig } from '../contract/browser-pools.ts';
import type { AppAction, DeploymentStatus, InvocationStatus } from '../contract/apps.ts';
import type { TimelineEvent } from '../contract/connections.ts';
import type { ConnectionDocument } from '../contract/document.ts';
import type { AuditExportDestination } from '../contract/audit-export.ts';
import type { CodeSourceType } from '../contract/code-sources.ts';
import type { Plan } from '../contract/limits.ts';
import type { CredentialProviderType } from '../contract/credential-providers.ts';
import type { OAuthAccess } from '../contract/oauth.ts';
import type { PasskeyName } from '../contract/passkeys.ts';
import type { Role } from '../contract/people.ts';
import type { ProxyProtocol, ProxyStatus } from '../contract/proxies.ts';
import type { Webhook, WebhookDelivery, WebhookEventType, WebhookPayload } from '../contract/webhooks.ts';

/** How far the typing of one interaction has come. */
export type TypingState = 'intent' | 'typed' | 'pressed' | 'observed';

/**
 * The tables, as the query builder sees them. `sealed…` columns hold ciphertexts of the vault (vault/seal.ts). Documents are
 * `json`, not `jsonb`: they are read whole, and `jsonb` refuses what a page's text may hold (NUL, lone surrogates).
 */
export interface Database {
  organizations: {
    id: string;
    name: string;
    plan: Plan;
    created_at: Date;
    /** Sessions at a time of each project that has no limit of its own. */
    default_project_max_sessions: Limit;
    /** An owner has turned projects off. */
    projects_disabled: Generated<boolean>;
    /** Most connections of all its projects together. */
    max_auth_connections: Limit;
  };
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
  connection_keys: { connection_id: string; organization_id: string; sealed_key: Buffer };
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
    /** The invocation whose program has the key; such a key is in no list. */
    invocation_id: string | null;
  };
  users: {
    id: string;
    /** Whose key seals what the row holds. */
    organization_id: string;
    /** In lower case. */
    email: string;
    name: string | null;
    password_hash: string | null;
    sealed_totp_secret: Buffer | null;
    /** A password and the secret of an authenticator that have not been confirmed by a code. */
    sealed_pending_password: Buffer | null;
    /** Issuer and subject, by which an OpenID provider knows the person. */
    oidc_subject: string | null;
    created_at: Date;
    updated_at: Date;
  };
  user_passkeys: {
    id: string;
    user_id: string;
    name: string;
    public_key: Buffer;
    counter: number;
    transports: Json<string[]>;
    created_at: Date;
    last_used_at: Date | null;
  };
  memberships: { organization_id: string; user_id: string; role: Role; created_at: Date };
  invitations: {
    id: string;
    organization_id: string;
    email: string;
    role: Role;
    code_hash: Buffer;
    invited_by: string;
    created_at: Date;
    expires_at: Date;
  };
  /** Sessions of people; they end with the membership. */
  user_sessions: {
    id: string;
    token_hash: Buffer;
    user_id: string;
    organization_id: string;
    created_at: Date;
    last_seen_at: Date;
    expires_at: Date;
    /** When the person last proved who they are. */
    confirmed_at: Date | null;
  };
  /** What is good once on the way to a session: links, challenges. */
  sign_in_codes: {
    code_hash: Buffer;
    purpose: string;
    user_id: string | null;
    data: Json<unknown>;
    created_at: Date;
    expires_at: Date;
    redeemed_at: Date | null;
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
    /** The number and the address that its codes come to. */
    code_phone: string | null;
    code_email: string | null;
    revision: number;
    created_at: Date;
    updated_at: Date;
    /** A removed connection leaves this tombstone, so that a late write of its workflow finds nothing to change. */
    deleted_at: Date | null;
  };
  /** Places in the schedule of health checks, by interval; null: to be given to the next. */
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
  extensions: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    size_bytes: number;
    /** SHA-256 of the archive as it was sent, in hex. */
    checksum: string;
    /** A ZIP archive. */
    archive: Buffer;
    /** Lower-case name. */
    search: string;
    created_at: Date;
    last_used_at: Date | null;
  };
  browser_pools: {
    id: string;
    organization_id: string;
    project_id: string;
    name: string | null;
    config: Json<BrowserPoolConfig>;
    /** What the configuration's profile and extensions were when it was set. */
    profile_id: string | null;
    extension_ids: string[];
    created_at: Date;
  };
  deployments: {
    id: string;
    organization_id: string;
    project_id: string;
    status: DeploymentStatus;
    status_reason: string | null;
    entrypoint: string;
    version: string;
    force: boolean;
    env_names: Json<string[]>;
    /** Null when what the deployment was made of is deleted. */
    sealed_env_vars: Buffer | null;
    /** A ZIP archive that was kept before they were sealed, until the sweeper comes by. */
    archive: Buffer | null;
    /** A ZIP archive. Null when it is deleted, or not sealed yet. */
    sealed_archive: Buffer | null;
    /** SHA-256 of the archive, in hex. */
    checksum: string;
    /** Where it was fetched; null for an archive that was sent. */
    repository: ColumnType<{ url: string; ref: string; path?: string } | null, string | null, string | null>;
    /** Lower-case names of its apps. */
    search: string;
    /** How many events it has: the number of the last. */
    event_count: Generated<number>;
    created_at: Date;
    updated_at: Date;
  };
  app_versions: {
    id: string;
    organization_id: string;
    project_id: string;
    deployment_id: string;
    app_name: string;
    version: string;
    actions: Json<AppAction[]>;
    search: string;
    created_at: Date;
  };
  invocations: {
    id: string;
    organization_id: string;
    project_id: string;
    deployment_id: string;
    app_name: string;
    version: string;
    action_name: string;
    status: InvocationStatus;
    sealed_payload: Buffer | null;
    sealed_outcome: Buffer | null;
    retries: number;
    /** Lower-case names of app and action. */
    search: string;
    event_count: Generated<number>;
    started_at: Date;
    /** When its time is over. */
    expires_at: Date;
    finished_at: Date | null;
  };
  app_events: {
    id: string;
    organization_id: string;
    /** A deployment or an invocation. */
    subject_id: string;
    number: number;
    at: Date;
    sealed_body: Buffer;
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
  webhooks: {
    id: string;
    organization_id: string;
    project_id: string;
    url: string;
    description: string;
    events: WebhookEventType[];
    sealed_secret: Buffer;
    /** The secret before the last rotation, which signs until `former_until`. */
    sealed_former_secret: Buffer | null;
    former_until: Date | null;
    status: Webhook['status'];
    paused_reason: NonNullable<Webhook['paused_reason']> | null;
    /** Since when no delivery has succeeded. */
    failing_since: Date | null;
    last_success_at: Date | null;
    created_at: Date;
    updated_at: Date;
  };
  webhook_deliveries: {
    seq: Generated<number>;
    id: string;
    webhook_id: string;
    /** What is delivered in order: the id of the connection, or of the webhook itself for its tests. */
    lane: string;
    message_id: string;
    event_type: WebhookPayload['type'];
    payload: Json<WebhookPayload>;
    status: WebhookDelivery['status'];
    attempts: number;
    /** When its workflow is started, or woken up; later while that has it in hand. */
    dispatch_at: Date;
    next_attempt_at: Date | null;
    first_attempt_at: Date | null;
    last_attempt_at: Date | null;
    last_status_code: number | null;
    last_error: NonNullable<WebhookDelivery['last_error']> | null;
    created_at: Date;
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

/** Read as a value, written as text. */
type Json<Value> = ColumnType<Value, string, string>;

/** None unless it is set. */
type Limit = ColumnType<number | null, number | null | undefined, number | null>;
