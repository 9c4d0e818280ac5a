import type { ApiKeyQueries } from "./queries/api-keys.ts";
import type { AuditLogQueries } from "./queries/audit-log.ts";
import type { ConnectionChanges } from "./queries/changes.ts";
import type { ConnectionQueries } from "./queries/connections.ts";
import type { CredentialQueries } from "./queries/credentials.ts";
import type { HandoffQueries } from "./queries/handoffs.ts";
import type {
  OrganizationQueries,
  Plan,
  ProjectQueries,
} from "./queries/organizations.ts";
import type { ProfileQueries } from "./queries/profiles.ts";
import type { SubmissionQueries } from "./queries/submissions.ts";
import type { TimelineQueries } from "./queries/timeline.ts";
import type { TotpUseQueries } from "./queries/totp-uses.ts";
import type { TypingLedgerQueries } from "./queries/typing-ledger.ts";

/** The organization and project that every installation starts with. */
export const DEFAULT_ORGANIZATION_ID = "org_default";
export const DEFAULT_PROJECT_ID = "prj_default";

/** Where the database is: a real Postgres by URL, or the folder of the socket of `startStoreServer`. */
export type StoreConnection = { url: string } | { socketDir: string };

/** What {@link createStore} needs. */
export interface StoreOptions {
  connection: StoreConnection;
  /** 32 bytes; wraps the data key of each organization. */
  masterKey: Buffer;
  /** Most connections of this process to the database. Default 8. */
  maxConnections?: number;
  /** The time; for tests. */
  clock?: () => Date;
}

/** Everything Holdfast keeps. `Document` is the connection document (contract/connections.ts). */
export interface Store<Document = Record<string, unknown>> {
  organizations: OrganizationQueries;
  projects: ProjectQueries;
  apiKeys: ApiKeyQueries;
  profiles: ProfileQueries;
  connections: ConnectionQueries<Document>;
  timeline: TimelineQueries;
  changes: ConnectionChanges;
  credentials: CredentialQueries;
  submissions: SubmissionQueries;
  typingLedger: TypingLedgerQueries;
  totpUses: TotpUseQueries;
  handoffs: HandoffQueries;
  auditLog: AuditLogQueries;
  /** Brings the schema up to date. Several processes may call it at once. */
  migrate(): Promise<void>;
  /** Makes the default organization and project, and registers `apiKey` organization-wide. May be called again. */
  bootstrap(input: { plan: Plan; apiKey?: string }): Promise<void>;
  /** Throws when the database does not answer or its schema is not the one of this build. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store. Connects on first use; call `migrate()` and `bootstrap()` once before anything else. */
export function createStore<Document = Record<string, unknown>>(
  _options: StoreOptions,
): Store<Document> {
  throw new Error("not built yet");
}
