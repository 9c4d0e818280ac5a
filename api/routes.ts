import { HoldfastError } from '../contract/errors.ts';
import { registerApps } from './apps/apps.ts';
import { registerDeployments } from './apps/deployments.ts';
import { registerInvocations } from './apps/invocations.ts';
import { registerAuditLogs } from './audit-log/audit-logs.ts';
import { registerAuditExport } from './audit-log/export-destinations.ts';
import { registerCodeTokens, registerCodes } from './auth-connections/codes.ts';
import { registerConnections } from './auth-connections/connections.ts';
import { registerEvents } from './auth-connections/events.ts';
import { registerExchange, registerLogin } from './auth-connections/login.ts';
import { registerSubmit } from './auth-connections/submit.ts';
import { registerConnectionHistory } from './auth-connections/history.ts';
import { principalCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import { registerOpenApi } from './document/openapi.ts';
import { registerMcp } from './mcp/routes.ts';
import { registerOAuthGrants } from './oauth/grants.ts';
import { registerApiKeys } from './organization/api-keys.ts';
import { registerLimits } from './organization/limits.ts';
import { registerProjects } from './organization/projects.ts';
import type { ApiParts } from './parts.ts';
import { registerMembers } from './people/members.ts';
import { registerSession } from './people/session.ts';
import { registerCodeSources } from './resources/code-sources.ts';
import { registerCredentialProviders } from './resources/credential-providers.ts';
import { registerCredentials } from './resources/credentials.ts';
import { registerExtensions } from './resources/extensions.ts';
import { registerProfileState } from './resources/profile-state.ts';
import { registerProfiles } from './resources/profiles.ts';
import { registerProxies } from './resources/proxies.ts';
import { registerWebhooks } from './resources/webhooks.ts';
import { registerAuthContext, registerHealth } from './service-info.ts';

/** Registers every operation of the API except those on browser sessions, which are forwarded (browsers/proxy.ts). */
export function registerRoutes(app: ApiServer, parts: ApiParts): void {
  registerHealth(app, parts);
  registerOpenApi(app);
  registerAuthContext(app);
  registerConnections(app, parts);
  registerConnectionHistory(app, parts);
  registerLogin(app, parts);
  registerExchange(app, parts);
  registerSubmit(app, parts);
  registerCodes(app, parts);
  registerCodeTokens(app, parts);
  registerEvents(app, parts);
  registerApiKeys(app, parts);
  registerCredentials(app, parts);
  registerCredentialProviders(app, parts);
  registerProfiles(app, parts);
  registerProfileState(app, parts);
  registerExtensions(app, parts);
  registerProxies(app, parts);
  registerApps(app, parts);
  registerDeployments(app, parts);
  registerInvocations(app, parts);
  registerProjects(app, parts);
  registerLimits(app, parts);
  registerAuditLogs(app, parts);
  registerAuditExport(app, parts);
  registerUnsupportedGroups(app);
  registerWebhooks(app, parts);
  registerCodeSources(app, parts);
  registerMcp(app, parts);
  registerOAuthGrants(app, parts);
  registerSession(app, parts);
  registerMembers(app, parts);
}

/** Route groups that clients know of but that make no sense self-hosted, or are not implemented. */
const UNSUPPORTED = {
  '/config-registry': 'config registry',
  '/telemetry/destinations': 'telemetry destinations',
  '/vaults': 'vaults; keep secrets in /credentials or in a store of /org/credential_providers',
  '/vault-provider-configs': 'vaults; connect a store by /org/credential_providers',
  '/search': 'web search',
  '/browsers/:id/repl': 'REPL; run code by POST /browsers/{id}/playwright/execute',
  '/browsers/:id/playwright/executors':
    'list of executors; name one in POST /browsers/{id}/playwright/execute, and close its tab to end it',
  '/browsers/:id/webmcp': 'WebMCP; drive the page by CDP or playwright/execute',
};

/** Responds to unsupported routes with a 404 that says so, instead of the one for unknown routes. */
function registerUnsupportedGroups(app: ApiServer): void {
  for (const [path, what] of Object.entries(UNSUPPORTED))
    for (const url of [path, `${path}/*`])
      // Clients call routes below a session with its own token, which grants nothing here.
      app.all(
        url,
        { config: path.startsWith('/browsers/') ? { access: 'browser_token' } : {}, schema: { hide: true } },
        (request) => {
          if (request.caller !== null) principalCallerOf(request);
          throw new HoldfastError('not_found', `This installation has no ${what}`);
        },
      );
}
