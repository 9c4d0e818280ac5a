import type { LoginTarget, CredentialFacts } from '../../../contract/activities.ts';
import {
  type QuickCheckActivities,
  checkEvent,
  STILL_SIGNED_IN,
  type WatchEnd,
  type WatchInput,
  type QuickCheckInput,
  type QuickCheckOutcome,
} from '../../../contract/watched-checks.ts';
import type { CheckMethod } from '../../../contract/connections.ts';
import { inTime } from '../../../contract/in-time.ts';
import { guard } from '../../activity.ts';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { checkNumberAt, nextCheckAtMs } from '../../../contract/check-times.ts';
import { isDeepStrictEqual } from 'node:util';
import type { ConnectionRecord } from '../../../contract/document.ts';

/** What a quick check is made of. */
export interface QuickCheckDeps extends Omit<WatchDeps, 'ask'> {
  /** Asks the site by the request that is known to tell; null where that does not say "signed in". Never rejects. */
  ask(target: LoginTarget): Promise<CheckMethod | null>;
}

/** How long a site may take, in milliseconds: it holds a workflow's task. Those that take longer are asked in the queue of checks. */
const ANSWER_WITHIN_MS = 1_000;
/** Sites that a process asks at once: the states of logins are recorded beside them, and are never kept waiting. */
const ASKED_AT_ONCE = 20;

/** Makes the check that needs no browser. It answers in time; a request that is slow goes on, so that no cookie it renews is lost. */
export function createQuickCheck(
  parts: QuickCheckDeps,
  { answerWithinMs = ANSWER_WITHIN_MS, askedAtOnce = ASKED_AT_ONCE } = {},
): QuickCheckActivities {
  let asking = 0;
  const askOne = async (target: LoginTarget): Promise<CheckMethod | null> => {
    asking += 1;
    try {
      return await parts.ask(target);
    } finally {
      asking -= 1;
    }
  };
  const limited = {
    ...parts,
    ask: (target: LoginTarget) => inTime(askOne(target), answerWithinMs, 'late' as const),
  };
  return {
    watchSession: createSessionWatch(limited),
    checkQuickly: guard(async (input) => (asking >= askedAtOnce ? { missed: 'busy' } : checkOnce(limited, input))),
  };
}

/** What the checks of a watch are made of. */
export interface WatchDeps extends CheckDeps {
  /** Revision of the connection's row; null when it is gone. */
  readRevision(connectionId: string): Promise<number | null>;
}

/**
 * Makes the checks of a session as it was, one by each try. Times are the server's: that for which the try was meant tells
 * which check it is, and so its revision and its event's id.
 */
export function createSessionWatch(parts: WatchDeps): QuickCheckActivities['watchSession'] {
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
async function makeCheck(parts: WatchDeps, input: WatchInput, dueMs: number): Promise<WatchEnd | null> {
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
  const record: WatchDeps['record'] = (state) => parts.record(state).catch(() => void unwritten.push(state));
  const found = await checkOnce({ ...parts, record }, { target, credential, document, event });
  if (found.missed !== null) return { missed: found.missed };
  if (found.recorded && unwritten.length === 0) return null;
  return { missed: null, checkId, check: found.check, credential: found.credential };
}

/** What one check by a request is made of. */
export interface CheckDeps {
  /** Asks the site; null where it does not clearly say "signed in", `late` where it takes long. */
  ask(target: LoginTarget): Promise<CheckMethod | null | 'late'>;
  readCredential(target: LoginTarget): Promise<CredentialFacts | null>;
  record(record: ConnectionRecord): Promise<void>;
}

/** Makes one check by a request, and records it where the session and its credential are as they were. Rejects as its parts do. */
export async function checkOnce(
  parts: CheckDeps,
  { target, credential: known, document, event }: QuickCheckInput,
): Promise<{ missed: 'late' | 'unsure' } | Extract<QuickCheckOutcome, { missed: null }>> {
  const check = await parts.ask(target);
  if (check === 'late') return { missed: 'late' };
  if (check === null) return { missed: 'unsure' };
  const credential = await parts.readCredential(target);
  const recorded = isDeepStrictEqual(credential, known);
  if (recorded) await parts.record({ document, timeline: [{ ...event, check }] });
  return { missed: null, check, credential, recorded };
}
