import { isDeepStrictEqual } from 'node:util';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { CredentialFacts, LoginTarget } from '../../../contract/activities.ts';
import { checkNumberAt, nextCheckAtMs } from '../../../contract/check-times.ts';
import type { CheckMethod } from '../../../contract/connections.ts';
import type { ConnectionRecord } from '../../../contract/document.ts';
import { withTimeout } from '../../../contract/with-timeout.ts';
import {
  checkEvent,
  type QuickCheckActivities,
  type QuickCheckInput,
  type QuickCheckOutcome,
  STILL_SIGNED_IN,
  type WatchEnd,
  type WatchInput,
} from '../../../contract/watched-checks.ts';
import { guard } from '../../activity.ts';

/** Dependencies of quick checks. */
export interface QuickCheckDeps {
  /** Sends the learned request; null unless the response clearly says "signed in". Never rejects. */
  ask(target: LoginTarget): Promise<CheckMethod | null>;
  readCredential(target: LoginTarget): Promise<CredentialFacts | null>;
  record(record: ConnectionRecord): Promise<void>;
  /** Revision of the connection's row; null if it no longer exists. */
  readRevision(connectionId: string): Promise<number | null>;
}

/** Dependencies of a session watch: `ask` resolves to `late` if the site is slow. */
export interface WatchDeps extends Omit<QuickCheckDeps, 'ask'> {
  ask(target: LoginTarget): Promise<CheckMethod | null | 'late'>;
}

/** How long a site may take, in milliseconds: it occupies a workflow task. Slower sites are checked on the checks task queue. */
const ANSWER_TIMEOUT_MS = 1_000;
/** Limit of concurrent requests per process: the workers that run them also record the state of logins. */
const MAX_CONCURRENT = 20;

/** Creates the checks that need no browser. A slow request continues in the background, so that cookies it renews are saved. */
export function createQuickCheck(
  deps: QuickCheckDeps,
  { answerWithinMs = ANSWER_TIMEOUT_MS, askedAtOnce = MAX_CONCURRENT } = {},
): QuickCheckActivities {
  let pending = 0;
  const askCounted = async (target: LoginTarget): Promise<CheckMethod | null> => {
    pending += 1;
    try {
      return await deps.ask(target);
    } finally {
      pending -= 1;
    }
  };
  const limited: WatchDeps = { ...deps, ask: (target) => withTimeout(askCounted(target), answerWithinMs, 'late') };
  return {
    watchSession: createSessionWatch(limited),
    checkQuickly: guard(async (input) => (pending >= askedAtOnce ? { missed: 'busy' } : checkOnce(limited, input))),
  };
}

/** Creates the activity that watches a session. Each attempt is one check, numbered by the server time it was scheduled for. */
export function createSessionWatch(deps: WatchDeps): QuickCheckActivities['watchSession'] {
  const check = guard(({ input, dueMs }: { input: WatchInput; dueMs: number }) => runWatchedCheck(deps, input, dueMs));
  return async (input) => {
    const { currentAttemptScheduledTimestampMs: dueMs } = Context.current().info;
    const startedAt = performance.now();
    const end = await check({ input, dueMs });
    if (end !== null) return end;
    throw ApplicationFailure.create({
      type: STILL_SIGNED_IN,
      message: 'The session is still signed in; the next attempt checks it again',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: Math.max(
        1,
        nextCheckAtMs(dueMs, input.place) - dueMs - Math.round(performance.now() - startedAt),
      ),
    });
  };
}

/** Runs one check; null once it is recorded, by this attempt or an earlier one whose worker was lost. */
async function runWatchedCheck(deps: WatchDeps, input: WatchInput, dueMs: number): Promise<WatchEnd | null> {
  const { target, credential, watchId } = input;
  const number = checkNumberAt(dueMs, input.place) - input.firstNumber;
  const revision = input.document.revision + 1 + number;
  const stored = await deps.readRevision(input.document.id);
  if (stored === revision) return null;
  if (stored === null || stored > revision) return { missed: 'overtaken' };
  const checkId = `${watchId}-${String(number)}`;
  const timestamp = new Date(dueMs).toISOString();
  const document = { ...input.document, last_auth_check_at: timestamp, revision };
  const event = { ...checkEvent(checkId, document.status, timestamp), previous_status: document.status };
  const errors: unknown[] = [];
  // If the store is unavailable, the workflow retries the write. A write that went through after all is not repeated.
  const record: WatchDeps['record'] = (state) => deps.record(state).catch((error: unknown) => void errors.push(error));
  const found = await checkOnce({ ...deps, record }, { target, credential, document, event });
  if (found.missed !== null) return { missed: found.missed };
  if (found.recorded && errors.length === 0) return null;
  return { missed: null, checkId, check: found.check, credential: found.credential };
}

/** Checks by one request, and records the check unless the credential has changed. Rejects as its dependencies do. */
async function checkOnce(
  deps: Pick<WatchDeps, 'ask' | 'readCredential' | 'record'>,
  { target, credential: known, document, event }: QuickCheckInput,
): Promise<{ missed: 'late' | 'unsure' } | Extract<QuickCheckOutcome, { missed: null }>> {
  const check = await deps.ask(target);
  if (check === 'late') return { missed: 'late' };
  if (check === null) return { missed: 'unsure' };
  const credential = await deps.readCredential(target);
  const recorded = isDeepStrictEqual(credential, known);
  if (recorded) await deps.record({ document, timeline: [{ ...event, check }] });
  return { missed: null, check, credential, recorded };
}
