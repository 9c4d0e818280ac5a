import { Migrator, sql } from 'kysely';
import { HoldfastError } from '../contract/errors.ts';
import type { Plan } from '../contract/limits.ts';
import { createPool, openDatabase, type StoreConnection } from './database.ts';
import { migrations } from './migrations/index.ts';
import { createApiKeyQueries } from './queries/api-keys.ts';
import { createAuditExportQueries } from './queries/audit-export.ts';
import { createAuditExportDestinationQueries } from './queries/audit-export-destinations.ts';
import { createAuditLogQueries } from './queries/audit-log.ts';
import { createBrowserPoolQueries } from './queries/browser-pools.ts';
import { createAppEventQueries } from './queries/app-events.ts';
import { createAppChanges, createConnectionChanges } from './queries/changes.ts';
import { createCheckSlotQueries } from './queries/check-slots.ts';
import { createCodeSourceQueries } from './queries/code-sources.ts';
import { createConnectionQueries, createTimelineQueries } from './queries/connections.ts';
import { createConnectionSummaryQueries } from './queries/connection-summary.ts';
import { createCredentialQueries } from './queries/credentials.ts';
import { createCredentialProviderQueries } from './queries/credential-providers.ts';
import { createInvitationQueries } from './queries/invitations.ts';
import { createMembershipQueries } from './queries/memberships.ts';
import { createOAuthGrantQueries } from './queries/oauth-grants.ts';
import { createOAuthRecordQueries } from './queries/oauth-records.ts';
import { createHandoffQueries, createSignInCodeQueries, createTotpUseQueries } from './queries/one-time-values.ts';
import { createOrganizationQueries } from './queries/organizations.ts';
import { createProfileQueries } from './queries/profiles.ts';
import { createProjectQueries } from './queries/projects.ts';
import { createExtensionQueries } from './queries/extensions.ts';
import { createDeploymentQueries } from './queries/deployments.ts';
import { createInvocationQueries } from './queries/invocations.ts';
import { createProxyQueries } from './queries/proxies.ts';
import { createRecordingQueries } from './queries/recordings.ts';
import { createSessionLimitQueries } from './queries/session-limits.ts';
import { createSubmissionQueries } from './queries/submissions.ts';
import { createTypingLedgerQueries } from './queries/typing-ledger.ts';
import { createUserPasskeyQueries } from './queries/user-passkeys.ts';
import { createUserPasswordQueries } from './queries/user-passwords.ts';
import { createUserQueries } from './queries/users.ts';
import { createUserSessionQueries } from './queries/user-sessions.ts';
import { createWebhookDeliveryQueries } from './queries/webhook-deliveries.ts';
import { createWebhookQueries } from './queries/webhooks.ts';
import { createSharedRateLimiter, type SharedRateLimit } from './rate-limiter.ts';
import { sweep } from './sweep.ts';
import { createLocalKeyWrapper } from './vault/master-key.ts';
import { createInstallationKeys } from './vault/installation-keys.ts';
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
export type Store = ReturnType<typeof createStore>;

/** Opens the store. Connects on first use; call `migrate()` and `bootstrap()` once before anything else. */
export function createStore(options: StoreOptions) {
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
    /** Changes of deployments and invocations; the revision is the number of the last event. */
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
    /** Counts calls across all processes on this database, separately per name. */
    rateLimiter: (name: string, limit: SharedRateLimit) => createSharedRateLimiter(pool, name, limit),
    /** Migrates the schema. Several processes may call it concurrently. */
    migrate: async (): Promise<void> => {
      const { error } = await migrator.migrateToLatest();
      if (error !== undefined)
        throw error instanceof Error ? error : new Error('Schema migration failed; see the database log');
    },
    /**
     * Creates the default organization and project, and registers `apiKey` organization-wide. Idempotent. Throws if the
     * master key is not the one that this store was created with.
     */
    bootstrap: async ({ plan, apiKey }: { plan: Plan; apiKey?: string }): Promise<void> => {
      await organizations.create({ id: DEFAULT_ORGANIZATION_ID, name: 'Default', plan });
      await organizations.setPlan(DEFAULT_ORGANIZATION_ID, plan);
      await projects.create(DEFAULT_ORGANIZATION_ID, { id: DEFAULT_PROJECT_ID, name: 'Default' });
      await vault.activeKey(db, DEFAULT_ORGANIZATION_ID);
      if (apiKey !== undefined)
        await apiKeys.register(DEFAULT_ORGANIZATION_ID, apiKey, { name: 'Set-up', createdBy: OPERATOR });
    },
    /** Throws `unavailable` if the database is unreachable or its schema is older than this build. */
    ping: async (): Promise<void> => {
      const names = Object.keys(migrations);
      const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch(throwNotReady);
      const done = new Set(rows.map((row) => row.name));
      if (!names.every((name) => done.has(name))) throwNotReady();
    },
    /** Deletes expired rows of all tables; call it about every minute. Returns the number of deleted rows. */
    sweep: (): Promise<number> => sweep(db, vault, clock(), { timelineMs: timelineKeptMs, auditMs: auditKeptMs }),
    /** Rotates all keys that the master key wraps, once per master key. Online; repeat until `finished`. */
    rotateAllKeys: (rotation?: RotationOptions): Promise<KeyRotation> => rotateAllKeys(db, vault, clock, rotation),
    /** Rewraps all keys with `masterKey`. Online and safe to repeat. */
    rotateMasterKey: async (): Promise<{ rewrapped: number }> => ({ rewrapped: await rotateMasterKey(db, vault) }),
    /** Replaces the data key of an organization. Online; repeat until `finished`. */
    rotateOrganizationKey: (organizationId: string, rotation?: RotationOptions): Promise<OrganizationKeyRotation> =>
      rotateOrganizationKey(db, vault, organizationId, clock(), rotation),
    close: async (): Promise<void> => {
      await Promise.all([changes.close(), appChanges.close()]);
      await db.destroy();
    },
  };
}

function throwNotReady(error?: unknown): never {
  if (error instanceof HoldfastError) throw error;
  throw new HoldfastError('unavailable', 'The database schema is older than this build; run the migrations');
}
