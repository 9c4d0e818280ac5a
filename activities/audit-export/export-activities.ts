import { type AuditExportActivities, EXPORT_HOLD_MS } from '../../contract/audit-export.ts';
import type { Store } from '../../store/store.ts';
import { guardWithHeartbeat } from '../activity.ts';
import { ExportDeliveryError, type ExportDelivery } from './delivery.ts';
import { nextObject, windowEndOf, windowOf } from './objects.ts';

/** Delay after the first failure, doubled by each further one in a row, and its maximum, in milliseconds. */
const BACKOFF_MS = { first: 60_000, max: 60 * 60_000 };

/** Creates the activity that exports the audit log to a destination, one object at a time. */
export function createAuditExportActivities(
  { auditExport, auditExportDestinations: destinations }: Pick<Store, 'auditExport' | 'auditExportDestinations'>,
  delivery: ExportDelivery,
): AuditExportActivities {
  return {
    exportNext: guardWithHeartbeat(async ({ destinationId, now }, signal) => {
      const destination = await destinations.byIdUnscoped(destinationId);
      if (destination?.status !== 'active') return { next: 'none' };
      const { nextAttemptAt, consecutiveFailures } = destination;
      if (nextAttemptAt !== null && nextAttemptAt.getTime() > now) return waitUntil(nextAttemptAt, now);

      const committed = windowOf(new Date(now - EXPORT_HOLD_MS));
      const object = await nextObject(auditExport, destination, committed);
      if (object !== null) {
        try {
          await delivery.put(destination, object, signal);
        } catch (error) {
          // A worker that shuts down aborts its upload; that is not a failure of the destination.
          if (!(error instanceof ExportDeliveryError) || signal.aborted) throw error;
          const retryAt = new Date(now + backoffAfter(consecutiveFailures));
          const failure = { error: `${error.code}: ${error.message}`, at: new Date(now), nextAttemptAt: retryAt };
          await destinations.fail(destination, failure);
          return waitUntil(retryAt, now);
        }
        await destinations.advance(destination, object.to, new Date(now));
        return { next: 'more' };
      }

      const { at } = destination.position;
      const reached = at < committed ? committed : at;
      if (at < committed) await destinations.advance(destination, { at: committed, seq: 0 }, null);
      const commitsAt = new Date(windowEndOf(reached).getTime() + EXPORT_HOLD_MS);
      await destinations.scheduleNext(destination, commitsAt);
      return waitUntil(commitsAt, now);
    }),
  };
}

function waitUntil(until: Date, now: number): { next: 'wait'; afterMs: number } {
  return { next: 'wait', afterMs: until.getTime() - now };
}

function backoffAfter(failuresBefore: number): number {
  return Math.min(BACKOFF_MS.first * 2 ** Math.min(failuresBefore, 10), BACKOFF_MS.max);
}
