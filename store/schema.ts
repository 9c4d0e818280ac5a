import type { AppTables } from './tables/apps.ts';
import type { AuditLogTables } from './tables/audit-log.ts';
import type { BrowserTables } from './tables/browsers.ts';
import type { ConnectionTables } from './tables/connections.ts';
import type { OrganizationTables } from './tables/organizations.ts';
import type { PeopleTables } from './tables/people.ts';
import type { WebhookTables } from './tables/webhooks.ts';

/**
 * The table types of the query builder. `sealed…` columns contain ciphertexts of the vault (vault/seal.ts). Documents are `json`
 * instead of `jsonb`: they are read as a whole, and `jsonb` rejects characters that page text may contain (NUL, lone surrogates).
 */
export interface Database
  extends OrganizationTables, PeopleTables, ConnectionTables, BrowserTables, AppTables, WebhookTables, AuditLogTables {}
