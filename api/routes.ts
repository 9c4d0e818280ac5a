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
}
