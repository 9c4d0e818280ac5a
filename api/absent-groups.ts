import { HoldfastError } from '../contract/errors.ts';
import { principalCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';

/** Groups of the interface that make no sense on one's own machines, or are not built: what clients have paths of. */
const ABSENT = {
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

/** Answers what this installation does not have with 404 and a message that says so, instead of an unknown route's. */
export function registerAbsentGroups(app: ApiServer): void {
  for (const [path, what] of Object.entries(ABSENT))
    for (const url of [path, `${path}/*`])
      // Clients call what lies below a session with its own token; there is nothing here that it could open.
      app.all(
        url,
        { config: path.startsWith('/browsers/') ? { access: 'browser_token' } : {}, schema: { hide: true } },
        (request) => {
          if (request.caller !== null) principalCallerOf(request);
          throw new HoldfastError('not_found', `This installation has no ${what}`);
        },
      );
}
