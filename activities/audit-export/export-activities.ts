import { type AuditExportActivities, EXPORT_HOLD_MS } from '../../contract/audit-export.ts';
import type { Store } from '../../store/store.ts';
import { guard, withHeartbeat } from '../activity.ts';
import { ExportDeliveryError, type ExportDelivery } from './delivery.ts';
import { nextObject, windowEndOf, windowOf } from './objects.ts';

/** Pause after the first failure in a row, doubled by each that follows, and the longest, in milliseconds. */
const BACK_OFF_MS = { first: 60_000, longest: 60 * 60_000 };

/** Makes the activity that delivers the audit log to a destination, one object at a time. */
export function createAuditExportActivities(
  { auditExport, auditExportDestinations: destinations }: Pick<Store, 'auditExport' | 'auditExportDestinations'>,
  delivery: ExportDelivery,
): AuditExportActivities {
  return {
    exportNext: guard(({ destinationId, now }) =>
      withHeartbeat(async (signal) => {
        const destination = await destinations.byIdUnscoped(destinationId);
        if (destination?.status !== 'active') return { next: 'none' };
        const { nextAttemptAt, consecutiveFailures } = destination;
        if (nextAttemptAt !== null && nextAttemptAt.getTime() > now) return waiting(nextAttemptAt, now);

        const committed = windowOf(new Date(now - EXPORT_HOLD_MS));
        const object = await nextObject(auditExport, destination, committed);
        if (object !== null) {
          try {
            await delivery.put(destination, object, signal);
          } catch (error) {
            // A worker that stops breaks off what it puts: no fault of the destination.
            if (!(error instanceof ExportDeliveryError) || signal.aborted) throw error;
            const again = new Date(now + pauseAfter(consecutiveFailures));
            const failure = { error: `${error.code}: ${error.message}`, at: new Date(now), nextAttemptAt: again };
            await destinations.fail(destination, failure);
            return waiting(again, now);
          }
          await destinations.advance(destination, object.to, new Date(now));
          return { next: 'more' };
        }

        const { at } = destination.position;
        const reached = at < committed ? committed : at;
        if (at < committed) await destinations.advance(destination, { at: committed, seq: 0 }, null);
        const commits = new Date(windowEndOf(reached).getTime() + EXPORT_HOLD_MS);
        await destinations.waitUntil(destination, commits);
        return waiting(commits, now);
      }),
    ),
  };
}

function waiting(until: Date, now: number): { next: 'wait'; afterMs: number } {
  return { next: 'wait', afterMs: until.getTime() - now };
}

function pauseAfter(failuresBefore: number): number {
  return Math.min(BACK_OFF_MS.first * 2 ** Math.min(failuresBefore, 10), BACK_OFF_MS.longest);
}
