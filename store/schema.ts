import type { AppTables } from './tables/apps.ts';
import type { AuditLogTables } from './tables/audit-log.ts';
import type { BrowserTables } from './tables/browsers.ts';
import type { ConnectionTables } from './tables/connections.ts';
import type { OrganizationTables } from './tables/organizations.ts';
import type { PeopleTables } from './tables/people.ts';
import type { WebhookTables } from './tables/webhooks.ts';

/**
 * The tables, as the query builder sees them. `sealed…` columns hold ciphertexts of the vault (vault/seal.ts). Documents are
 * `json`, not `jsonb`: they are read whole, and `jsonb` refuses what a page's text may hold (NUL, lone surrogates).
 */
export interface Database
  extends OrganizationTables, PeopleTables, ConnectionTables, BrowserTables, AppTables, WebhookTables, AuditLogTables {}
