import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import {
  checkEvent,
  type QuickCheckActivities,
  STILL_SIGNED_IN,
  type WatchEnd,
  type WatchInput,
} from '../../contract/watched-checks.ts';
import { checkNumberAt, nextCheckAtMs } from '../../contract/check-times.ts';
import { checkOnce, type CheckParts } from './check-once.ts';
import { guard } from './faults.ts';

/** What the checks of a watch are made of. */
export interface WatchParts extends CheckParts {
  /** Revision of the connection's row; null when it is gone. */
  readRevision(connectionId: string): Promise<number | null>;
}

/**
 * Makes the checks of a session as it was, one by each try. Times are the server's: that for which the try was meant tells
 * which check it is, and so its revision and its event's id.
 */
export function createSessionWatch(parts: WatchParts): QuickCheckActivities['watchSession'] {
  const look = guard(({ input, dueMs }: { input: WatchInput; dueMs: number }) => makeCheck(parts, input, dueMs));
  return async (input) => {
    const { currentAttemptScheduledTimestampMs: dueMs } = Context.current().info;
    const began = performance.now();
    const end = await look({ input, dueMs });
    if (end !== null) return end;
    throw ApplicationFailure.create({
      type: STILL_SIGNED_IN,
      message: 'The session is as it was; it is looked at again at its time',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: Math.max(1, nextCheckAtMs(dueMs, input.place) - dueMs - Math.round(performance.now() - began)),
    });
  };
}

/** One check; null when it is recorded, by this try or by one before it whose worker was lost. */
async function makeCheck(parts: WatchParts, input: WatchInput, dueMs: number): Promise<WatchEnd | null> {
  const { target, credential, watchId } = input;
  const number = checkNumberAt(dueMs, input.place) - input.firstNumber;
  const revision = input.document.revision + 1 + number;
  const stored = await parts.readRevision(input.document.id);
  if (stored === revision) return null;
  if (stored === null || stored > revision) return { missed: 'overtaken' };
  const checkId = `${watchId}-${String(number)}`;
  const timestamp = new Date(dueMs).toISOString();
  const document = { ...input.document, last_auth_check_at: timestamp, revision };
  const event = { ...checkEvent(checkId, document.status, timestamp), previous_status: document.status };
  const unwritten: unknown[] = [];
  // The workflow has the patience that a store takes which is away. What was written after all is written once.
  const record: WatchParts['record'] = (state) => parts.record(state).catch(() => void unwritten.push(state));
  const found = await checkOnce({ ...parts, record }, { target, credential, document, event });
  if (found.missed !== null) return { missed: found.missed };
  if (found.recorded && unwritten.length === 0) return null;
  return { missed: null, checkId, check: found.check, credential: found.credential };
}
