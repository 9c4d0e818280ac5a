import { Migrator, sql } from 'kysely';
import { HoldfastError } from '../contract/errors.ts';
import type { Plan } from '../contract/limits.ts';
import { createPool, openDatabase, type StoreConnection } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createApiKeyQueries, type ApiKeyQueries } from './queries/api-keys.ts';
import { createAuditExportQueries, type AuditExportQueries } from './queries/audit-export.ts';
import {
  createAuditExportDestinationQueries,
  type AuditExportDestinationQueries,
} from './queries/audit-export-destinations.ts';
import { createAuditLogQueries, type AuditLogQueries } from './queries/audit-log.ts';
import { createBrowserPoolQueries, type BrowserPoolQueries } from './queries/browser-pools.ts';
import { type AppEventQueries, createAppEventQueries } from './queries/app-events.ts';
import { createAppChanges, createConnectionChanges, type ConnectionChanges } from './queries/changes.ts';
import { createCheckSlotQueries, type CheckSlotQueries } from './queries/check-slots.ts';
import { createCodeSourceQueries, type CodeSourceQueries } from './queries/code-sources.ts';
import {
  createConnectionQueries,
  createTimelineQueries,
  type ConnectionQueries,
  type TimelineQueries,
} from './queries/connections.ts';
import { createConnectionSummaryQueries, type ConnectionSummaryQueries } from './queries/connection-summary.ts';
import { createCredentialQueries, type CredentialQueries } from './queries/credentials.ts';
import { createCredentialProviderQueries, type CredentialProviderQueries } from './queries/credential-providers.ts';
import { createInvitationQueries, type InvitationQueries } from './queries/invitations.ts';
import { createMembershipQueries, type MembershipQueries } from './queries/memberships.ts';
import { createOAuthGrantQueries, type OAuthGrantQueries } from './queries/oauth-grants.ts';
import { createOAuthRecordQueries, type OAuthRecordQueries } from './queries/oauth-records.ts';
import {
  createHandoffQueries,
  createSignInCodeQueries,
  createTotpUseQueries,
  type HandoffQueries,
  type SignInCodeQueries,
  type TotpUseQueries,
} from './queries/one-time-values.ts';
import { createOrganizationQueries, type OrganizationQueries } from './queries/organizations.ts';
import { createProfileQueries, type ProfileQueries } from './queries/profiles.ts';
import { createProjectQueries, type ProjectQueries } from './queries/projects.ts';
import { createExtensionQueries, type ExtensionQueries } from './queries/extensions.ts';
import { createDeploymentQueries, type DeploymentQueries } from './queries/deployments.ts';
import { createInvocationQueries, type InvocationQueries } from './queries/invocations.ts';
import { createProxyQueries, type ProxyQueries } from './queries/proxies.ts';
import { createRecordingQueries, type RecordingQueries } from './queries/recordings.ts';
import { createSessionLimitQueries, type SessionLimitQueries } from './queries/session-limits.ts';
import { createSubmissionQueries, type SubmissionQueries } from './queries/submissions.ts';

import { createTypingLedgerQueries, type TypingLedgerQueries } from './queries/typing-ledger.ts';
import { createUserPasskeyQueries, type UserPasskeyQueries } from './queries/user-passkeys.ts';
import { createUserPasswordQueries, type UserPasswordQueries } from './queries/user-passwords.ts';
import { createUserQueries, type UserQueries } from './queries/users.ts';
import { createUserSessionQueries, type UserSessionQueries } from './queries/user-sessions.ts';
import { createWebhookDeliveryQueries, type WebhookDeliveryQueries } from './queries/webhook-deliveries.ts';
import { createWebhookQueries, type WebhookQueries } from './queries/webhooks.ts';
import { createSharedRateLimiter, type SharedRateLimit, type SharedRateLimiter } from './rate-limiter.ts';
import { sweep } from './sweep.ts';
import { createLocalKeyWrapper } from './vault/master-key.ts';
import { createInstallationKeys, type InstallationKeys } from './vault/installation-keys.ts';
import {
  rotateAllKeys,
  rotateMasterKey,
  rotateOrganizationKey,
  type KeyRotation,
  type OrganizationKeyRotation,
  type RotationOptions,
} from './vault/rotation.ts';
import { createVault } from './vault/vault.ts';

export type { StoreConnection } from './database.ts';

/** The initial organization and project of every installation. */
export const DEFAULT_ORGANIZATION_ID = 'org_default';
export const DEFAULT_PROJECT_ID = 'prj_default';
const DEFAULT_TIMELINE_RETENTION_MS = 90 * 24 * 60 * 60_000;
const DEFAULT_AUDIT_RETENTION_MS = 365 * 24 * 60 * 60_000;
/** The creator recorded for the initial API key. */
const OPERATOR = { id: 'usr_operator', email: 'operator@holdfast.invalid', name: 'Operator' };

/** What {@link createStore} needs. */
export interface StoreOptions {
  connection: StoreConnection;
  /** 32 bytes; wraps the data key of each organization. */
  masterKey: Buffer;
  /** Former master keys that may still wrap data keys during a rotation. */
  retiredMasterKeys?: Buffer[];
  /** Reloads the master keys, the wrapping one first: a rotation may have changed them. */
  reloadMasterKeys?: () => Promise<Buffer[]>;
  /** Maximum database connections of this process. Default 8. */
  maxConnections?: number;
  /** Retention of timeline events, in milliseconds. Default 90 days. */
  timelineKeptMs?: number;
  /** Retention of audit log rows, in milliseconds. Default 365 days. */
  auditKeptMs?: number;
  /** Retention of login recordings, in milliseconds. Default 7 days. */
  recordingsKeptMs?: number;
  /** The current time; for tests. */
  clock?: () => Date;
}

/** Everything that Holdfast persists. */
export interface Store {
  organizations: OrganizationQueries;
  projects: ProjectQueries;
  apiKeys: ApiKeyQueries;
  users: UserQueries;
  userPasskeys: UserPasskeyQueries;
  userPasswords: UserPasswordQueries;
  memberships: MembershipQueries;
  invitations: InvitationQueries;
  userSessions: UserSessionQueries;
  signInCodes: SignInCodeQueries;
  oauthGrants: OAuthGrantQueries;
  oauthRecords: OAuthRecordQueries;
  profiles: ProfileQueries;
  connections: ConnectionQueries;
  connectionSummary: ConnectionSummaryQueries;
  timeline: TimelineQueries;
  changes: ConnectionChanges;
  credentials: CredentialQueries;
  credentialProviders: CredentialProviderQueries;
  proxies: ProxyQueries;
  extensions: ExtensionQueries;
  browserPools: BrowserPoolQueries;
  sessionLimits: SessionLimitQueries;
  checkSlots: CheckSlotQueries;
  deployments: DeploymentQueries;
  invocations: InvocationQueries;
  appEvents: AppEventQueries;
  /** Changes of deployments and invocations; the revision is the number of the last event. */
  appChanges: Pick<ConnectionChanges, 'watch'>;
  recordings: RecordingQueries;
  submissions: SubmissionQueries;
  typingLedger: TypingLedgerQueries;
  totpUses: TotpUseQueries;
  handoffs: HandoffQueries;
  auditLog: AuditLogQueries;
  auditExport: AuditExportQueries;
  auditExportDestinations: AuditExportDestinationQueries;
  codeSources: CodeSourceQueries;
  webhooks: WebhookQueries;
  webhookDeliveries: WebhookDeliveryQueries;
  installationKeys: InstallationKeys;
  /** Counts calls across all processes on this database, separately per name. */
  rateLimiter(name: string, limit: SharedRateLimit): SharedRateLimiter;
  /** Migrates the schema. Several processes may call it concurrently. */
  migrate(): Promise<void>;
  /**
   * Creates the default organization and project, and registers `apiKey` organization-wide. Idempotent. Throws if the
   * master key is not the one that this store was created with.
   */
  bootstrap(input: { plan: Plan; apiKey?: string }): Promise<void>;
  /** Throws `unavailable` if the database is unreachable or its schema is older than this build. */
  ping(): Promise<void>;
  /** Deletes expired rows of all tables; call it about every minute. Returns the number of deleted rows. */
  sweep(): Promise<number>;
  /** Rotates all keys that the master key wraps, once per master key. Online; repeat until `finished`. */
  rotateAllKeys(options?: RotationOptions): Promise<KeyRotation>;
  /** Rewraps all keys with `masterKey`. Online and safe to repeat. */
  rotateMasterKey(): Promise<{ rewrapped: number }>;
  /** Replaces the data key of an organization. Online; repeat until `finished`. */
  rotateOrganizationKey(organizationId: string, options?: RotationOptions): Promise<OrganizationKeyRotation>;
  close(): Promise<void>;
}

/** Opens the store. Connects on first use; call `migrate()` and `bootstrap()` once before anything else. */
export function createStore(options: StoreOptions): Store {
  const { connection, masterKey, retiredMasterKeys = [], maxConnections = 8, clock = () => new Date() } = options;
  const { timelineKeptMs = DEFAULT_TIMELINE_RETENTION_MS, auditKeptMs = DEFAULT_AUDIT_RETENTION_MS } = options;
  const pool = createPool(connection, maxConnections);
  const db = openDatabase(pool);
  const wrapper = createLocalKeyWrapper(masterKey);
  const retired = retiredMasterKeys.map(createLocalKeyWrapper);
  const { reloadMasterKeys } = options;
  const vault = createVault({
    wrapper,
    retired,
    ...(reloadMasterKeys && { reload: async () => (await reloadMasterKeys()).map(createLocalKeyWrapper) }),
  });
  const installationKeys = createInstallationKeys(db, vault, clock);
  const organizations = createOrganizationQueries(db, vault, clock);
  const projects = createProjectQueries(db, clock);
  const apiKeys = createApiKeyQueries(db, clock);
  const changes = createConnectionChanges(db, connection);
  const appChanges = createAppChanges(db, connection);
  const migrator = new Migrator({ db, provider: { getMigrations: () => Promise.resolve(migrations) } });

  return {
    organizations,
    projects,
    apiKeys,
    users: createUserQueries(db, clock),
    userPasskeys: createUserPasskeyQueries(db, clock),
    userPasswords: createUserPasswordQueries(db, vault, clock),
    memberships: createMembershipQueries(db, clock),
    invitations: createInvitationQueries(db, clock),
    userSessions: createUserSessionQueries(db, clock),
    signInCodes: createSignInCodeQueries(db, clock),
    changes,
    oauthGrants: createOAuthGrantQueries(db, clock),
    oauthRecords: createOAuthRecordQueries(db, clock),
    profiles: createProfileQueries(db, vault, clock),
    connections: createConnectionQueries(db, changes, clock),
    connectionSummary: createConnectionSummaryQueries(db, clock),
    timeline: createTimelineQueries(db),
    credentials: createCredentialQueries(db, vault, clock),
    credentialProviders: createCredentialProviderQueries(db, vault, clock),
    proxies: createProxyQueries(db, vault, clock),
    extensions: createExtensionQueries(db, clock),
    browserPools: createBrowserPoolQueries(db, clock),
    sessionLimits: createSessionLimitQueries(db),
    checkSlots: createCheckSlotQueries(db),
    deployments: createDeploymentQueries(db, vault, clock),
    invocations: createInvocationQueries(db, vault, clock),
    appEvents: createAppEventQueries(db, vault, clock),
    appChanges,
    recordings: createRecordingQueries(db, vault, clock, options.recordingsKeptMs),
    submissions: createSubmissionQueries(db, vault, clock),
    typingLedger: createTypingLedgerQueries(db, clock),
    totpUses: createTotpUseQueries(db, clock),
    handoffs: createHandoffQueries(db, clock),
    auditLog: createAuditLogQueries(db, installationKeys),
    auditExport: createAuditExportQueries(db),
    auditExportDestinations: createAuditExportDestinationQueries(db, clock),
    codeSources: createCodeSourceQueries(db, vault, clock),
    webhooks: createWebhookQueries(db, vault, clock),
    webhookDeliveries: createWebhookDeliveryQueries(db, vault, clock),
    installationKeys,
    rateLimiter: (name, limit) => createSharedRateLimiter(pool, name, limit),
    migrate: async () => {
      const { error } = await migrator.migrateToLatest();
      if (error !== undefined)
        throw error instanceof Error ? error : new Error('Schema migration failed; see the database log');
    },
    bootstrap: async ({ plan, apiKey }) => {
      await organizations.create({ id: DEFAULT_ORGANIZATION_ID, name: 'Default', plan });
      await organizations.setPlan(DEFAULT_ORGANIZATION_ID, plan);
      await projects.create(DEFAULT_ORGANIZATION_ID, { id: DEFAULT_PROJECT_ID, name: 'Default' });
      await vault.activeKey(db, DEFAULT_ORGANIZATION_ID);
      if (apiKey !== undefined)
        await apiKeys.register(DEFAULT_ORGANIZATION_ID, apiKey, { name: 'Set-up', createdBy: OPERATOR });
    },
    ping: async () => {
      const names = Object.keys(migrations);
      const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch(throwNotReady);
      const done = new Set(rows.map((row) => row.name));
      if (!names.every((name) => done.has(name))) throwNotReady();
    },
    sweep: () => sweep(db, vault, clock(), { timelineMs: timelineKeptMs, auditMs: auditKeptMs }),
    rotateAllKeys: (rotation) => rotateAllKeys(db, vault, clock, rotation),
    rotateMasterKey: async () => ({ rewrapped: await rotateMasterKey(db, vault) }),
    rotateOrganizationKey: (organizationId, rotation) =>
      rotateOrganizationKey(db, vault, organizationId, clock(), rotation),
    close: async () => {
      await Promise.all([changes.close(), appChanges.close()]);
      await db.destroy();
    },
  };
}

function throwNotReady(error?: unknown): never {
  if (error instanceof HoldfastError) throw error;
  throw new HoldfastError('unavailable', 'The database schema is older than this build; run the migrations');
}
