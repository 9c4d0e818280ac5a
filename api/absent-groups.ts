import { HoldfastError } from '../contract/errors.ts';
import { keyCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';

/** Groups of the interface that make no sense on one's own machines, or are not built: what clients have paths of. */
const ABSENT = {
  '/config-registry': 'config registry',
  '/org/entitlements': 'entitlements',
  '/telemetry/destinations': 'telemetry destinations',
  '/audit-logs/export/destinations': 'export destinations; use `GET /audit-logs/export/chunk`',
};

/** Answers what this installation does not have with 404 and a message that says so, instead of an unknown route's. */
export function registerAbsentGroups(app: ApiServer): void {
  for (const [path, what] of Object.entries(ABSENT))
    for (const url of [path, `${path}/*`])
      app.all(url, { schema: { hide: true } }, (request) => {
        keyCallerOf(request);
        throw new HoldfastError('not_found', `This installation has no ${what}`);
      });
}
