import type { Migration } from 'kysely';
import { initial } from './0001-initial.ts';
import { connectionSearch } from './0002-connection-search.ts';
import { proxies } from './0003-proxies.ts';
import { recordings } from './0004-recordings.ts';
import { valueOrigins } from './0005-value-origins.ts';
import { rateLimits } from './0006-rate-limits.ts';
import { installationKeys } from './0007-installation-keys.ts';
import { credentialProviders } from './0008-credential-providers.ts';
import { webhooks } from './0009-webhooks.ts';
import { passkeys } from './0010-passkeys.ts';
import { extensions } from './0011-extensions.ts';
import { codeSources } from './0012-code-sources.ts';
import { browserPools } from './0013-browser-pools.ts';
import { apps } from './0014-apps.ts';
import { auditLogChain } from './0015-audit-log-chain.ts';
import { sessionLimits } from './0016-session-limits.ts';
import { sealedArchives } from './0017-sealed-archives.ts';
import { invocationLimits } from './0018-invocation-limits.ts';
import { checkSlots } from './0021-check-slots.ts';
import { archivedProjects } from './0022-archived-projects.ts';
import { people } from './0023-people.ts';
import { oauth } from './0024-oauth.ts';
import { auditExport } from './0025-audit-export.ts';
import { auditLogPartitions } from './0026-audit-log-partitions.ts';
import { programRepositories } from './0027-program-repositories.ts';
import { entitlements } from './0028-entitlements.ts';
import { auditLogLookup } from './0029-audit-log-lookup.ts';

/** Every migration in order, by name. Never change a released one; add the next. */
export const migrations: Record<string, Migration> = {
  '0001_initial': initial,
  '0002_connection_search': connectionSearch,
  '0003_proxies': proxies,
  '0004_recordings': recordings,
  '0005_value_origins': valueOrigins,
  '0006_rate_limits': rateLimits,
  '0007_installation_keys': installationKeys,
  '0008_credential_providers': credentialProviders,
  '0009_webhooks': webhooks,
  '0010_passkeys': passkeys,
  '0011_extensions': extensions,
  '0012_code_sources': codeSources,
  '0013_browser_pools': browserPools,
  '0014_apps': apps,
  '0015_audit_log_chain': auditLogChain,
  '0016_session_limits': sessionLimits,
  '0017_sealed_archives': sealedArchives,
  '0018_invocation_limits': invocationLimits,
  '0021_check_slots': checkSlots,
  '0022_archived_projects': archivedProjects,
  '0023_people': people,
  '0024_oauth': oauth,
  '0025_audit_export': auditExport,
  '0026_audit_log_partitions': auditLogPartitions,
  '0027_program_repositories': programRepositories,
  '0028_entitlements': entitlements,
  '0029_audit_log_lookup': auditLogLookup,
};
