import { registerAuthContext } from './auth-context.ts';
import { registerCheck } from './auth-connections/check.ts';
import { registerCreateConnection } from './auth-connections/create.ts';
import { registerDeleteConnection } from './auth-connections/delete.ts';
import { registerEvents } from './auth-connections/events.ts';
import { registerExchange } from './auth-connections/exchange.ts';
import { registerListConnections } from './auth-connections/list.ts';
import { registerLogin } from './auth-connections/login.ts';
import { registerRetrieveConnection } from './auth-connections/retrieve.ts';
import { registerSubmit } from './auth-connections/submit.ts';
import { registerTimeline } from './auth-connections/timeline.ts';
import { registerUpdateConnection } from './auth-connections/update.ts';
import { registerCreateApiKey } from './api-keys/create.ts';
import { registerListApiKeys } from './api-keys/list.ts';
import { registerRetrieveApiKey } from './api-keys/retrieve.ts';
import { registerUpdateApiKey } from './api-keys/update.ts';
import { registerDeleteApiKey } from './api-keys/delete.ts';
import { registerRotateApiKey } from './api-keys/rotate.ts';
import { registerCreateCredential } from './credentials/create.ts';
import { registerListCredentials } from './credentials/list.ts';
import { registerRetrieveCredential } from './credentials/retrieve.ts';
import { registerUpdateCredential } from './credentials/update.ts';
import { registerDeleteCredential } from './credentials/delete.ts';
import { registerTotpCode } from './credentials/totp-code.ts';
import { registerCreateProfile } from './profiles/create.ts';
import { registerListProfiles } from './profiles/list.ts';
import { registerRetrieveProfile } from './profiles/retrieve.ts';
import { registerUpdateProfile } from './profiles/update.ts';
import { registerDeleteProfile } from './profiles/delete.ts';
import { registerCheckProxy } from './proxies/check.ts';
import { registerCreateProxy } from './proxies/create.ts';
import { registerDeleteProxy } from './proxies/delete.ts';
import { registerListProxies } from './proxies/list.ts';
import { registerRetrieveProxy } from './proxies/retrieve.ts';
import { registerUpdateProxy } from './proxies/update.ts';
import { registerCreateProject } from './projects/create.ts';
import { registerListProjects } from './projects/list.ts';
import { registerRetrieveProject } from './projects/retrieve.ts';
import type { ApiServer } from './context.ts';
import { registerHealth } from './health.ts';
import { registerOpenApi } from './openapi.ts';
import type { ApiParts } from './parts.ts';

/** Every operation of the API, one file each. */
export function registerRoutes(app: ApiServer, parts: ApiParts): void {
  registerHealth(app, parts);
  registerOpenApi(app);
  registerAuthContext(app);

  registerCreateConnection(app, parts);
  registerListConnections(app, parts);
  registerRetrieveConnection(app, parts);
  registerUpdateConnection(app, parts);
  registerDeleteConnection(app, parts);
  registerLogin(app, parts);
  registerSubmit(app, parts);
  registerEvents(app, parts);
  registerTimeline(app, parts);
  registerExchange(app, parts);
  registerCheck(app, parts);

  registerCreateApiKey(app, parts);
  registerListApiKeys(app, parts);
  registerRetrieveApiKey(app, parts);
  registerUpdateApiKey(app, parts);
  registerDeleteApiKey(app, parts);
  registerRotateApiKey(app, parts);

  registerCreateCredential(app, parts);
  registerListCredentials(app, parts);
  registerRetrieveCredential(app, parts);
  registerUpdateCredential(app, parts);
  registerDeleteCredential(app, parts);
  registerTotpCode(app, parts);

  registerCreateProfile(app, parts);
  registerListProfiles(app, parts);
  registerRetrieveProfile(app, parts);
  registerUpdateProfile(app, parts);
  registerDeleteProfile(app, parts);

  registerCreateProxy(app, parts);
  registerListProxies(app, parts);
  registerRetrieveProxy(app, parts);
  registerUpdateProxy(app, parts);
  registerDeleteProxy(app, parts);
  registerCheckProxy(app, parts);

  registerCreateProject(app, parts);
  registerListProjects(app, parts);
  registerRetrieveProject(app, parts);
}
