import { registerApiKeys } from './api-keys.ts';
import { registerConnections } from './auth-connections/connections.ts';
import { registerEvents } from './auth-connections/events.ts';
import { registerExchange, registerLogin } from './auth-connections/login.ts';
import { registerSubmit } from './auth-connections/submit.ts';
import { registerAuthContext } from './auth-context.ts';
import type { ApiServer } from './context.ts';
import { registerCredentialProviders } from './credential-providers.ts';
import { registerCredentials } from './credentials.ts';
import { registerHealth } from './health.ts';
import { registerOpenApi } from './openapi.ts';
import type { ApiParts } from './parts.ts';
import { registerProfiles } from './profiles.ts';
import { registerProjects } from './projects.ts';
import { registerProxies } from './proxies.ts';

/** Every operation of the API but those on browser sessions, which are passed on (browsers-proxy.ts). One resource a file. */
export function registerRoutes(app: ApiServer, parts: ApiParts): void {
  registerHealth(app, parts);
  registerOpenApi(app);
  registerAuthContext(app);
  registerConnections(app, parts);
  registerLogin(app, parts);
  registerExchange(app, parts);
  registerSubmit(app, parts);
  registerEvents(app, parts);
  registerApiKeys(app, parts);
  registerCredentials(app, parts);
  registerCredentialProviders(app, parts);
  registerProfiles(app, parts);
  registerProxies(app, parts);
  registerProjects(app, parts);
}
