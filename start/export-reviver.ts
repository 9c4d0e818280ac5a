import type { AuditExportsClient } from '../client/delivery-clients.ts';
import type { Store } from '../store/store.ts';
import { repeat, type PeriodicTask } from './sweeper.ts';

/** How often active destinations are looked at, in milliseconds, and how many at a time. A window is held far longer. */
const LOOK_EVERY_MS = 60_000;
const LOOK_AT = 100;

/**
 * Has active export destinations deliver whose workflow does not run: it was ended from outside, lost with its server, or could
 * not be started when they were made. Where delivery goes on stands in their rows.
 */
export function startExportReviver(
  destinations: Pick<Store['auditExportDestinations'], 'activeIdsAfter'>,
  exports: Pick<AuditExportsClient, 'start'>,
): PeriodicTask {
  return repeat(() => reviveExports(destinations, exports), LOOK_EVERY_MS);
}

/** One walk over all of them. Throws what Temporal throws when it is away. */
export async function reviveExports(
  destinations: Pick<Store['auditExportDestinations'], 'activeIdsAfter'>,
  exports: Pick<AuditExportsClient, 'start'>,
): Promise<void> {
  let ids: string[] = [];
  do {
    ids = await destinations.activeIdsAfter(ids.at(-1) ?? null, LOOK_AT);
    for (const id of ids) await exports.start(id);
  } while (ids.length === LOOK_AT);
}
