import { isDeepStrictEqual } from 'node:util';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type {
  CredentialFacts,
  LoginTarget,
  QuickCheckActivities,
  WatchEnd,
  WatchInput,
} from '../../contract/activities.ts';
import { checkNumberAt, nextCheckAtMs } from '../../contract/check-times.ts';
import type { CheckMethod, TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionRecord } from '../../contract/document.ts';
import { checkEventId, STILL_SIGNED_IN } from '../../contract/watched-checks.ts';
import { guard } from './faults.ts';

/** What the checks of a watch are made of. */
export interface WatchParts {
  /** Asks the site; null where it does not clearly say "signed in", `late` where it takes long. */
  ask(target: LoginTarget): Promise<CheckMethod | null | 'late'>;
  readCredential(target: LoginTarget): Promise<CredentialFacts | null>;
  record(record: ConnectionRecord): Promise<void>;
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
  const { target, document, credential: known, watchId } = input;
  const number = checkNumberAt(dueMs, input.place) - input.firstNumber;
  const revision = document.revision + 1 + number;
  const stored = await parts.readRevision(document.id);
  if (stored === revision) return null;
  if (stored === null || stored > revision) return { missed: 'overtaken' };
  const check = await parts.ask(target);
  if (check === null) return { missed: 'unsure' };
  if (check === 'late') return { missed: 'late' };
  const checkId = `${watchId}-${String(number)}`;
  const timestamp = new Date(dueMs).toISOString();
  const { status } = document;
  const event: TimelineEvent = {
    ...{ id: checkEventId(checkId), type: 'health_check', status, timestamp, previous_status: status, check },
  };
  const credential = await parts.readCredential(target);
  if (!isDeepStrictEqual(credential, known)) return { missed: null, checkId, check, credential };
  try {
    await parts.record({ document: { ...document, last_auth_check_at: timestamp, revision }, timeline: [event] });
    return null;
  } catch {
    // The workflow has the patience that a store takes which is away. What was written after all is written once.
    return { missed: null, checkId, check, credential };
  }
}
