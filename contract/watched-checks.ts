import type { CredentialFacts, LoginTarget } from './activities.ts';
import type { CheckSlot } from './check-times.ts';
import type { AuthStatus, CheckMethod, TimelineEvent } from './connections.ts';
import type { ConnectionDocument } from './document.ts';

/** Failure type of a watch's check that found the session unchanged: it is retried when the next one is due. */
export const STILL_SIGNED_IN = 'still_signed_in';

/** The event of a check. Its id is derived from the check's. Pure. */
export function checkEvent(
  checkId: string,
  status: AuthStatus,
  timestamp: string,
): Pick<TimelineEvent, 'id' | 'type' | 'status' | 'timestamp'> {
  return { id: `evt_${checkId.replaceAll('-', '')}`, type: 'health_check', status, timestamp };
}

/** A check by a single request, and what is recorded if it finds the profile logged in. */
export interface QuickCheckInput {
  target: LoginTarget;
  /** What is known about the attached credential. If it has changed, the workflow decides what follows. */
  credential: CredentialFacts | null;
  /** The document after such a check. */
  document: ConnectionDocument;
  /** Its event, without the method of the check. */
  event: TimelineEvent;
}

/** Why a quick check was inconclusive: no clear "signed in", a slow site, or too many concurrent checks. */
export type QuickCheckMiss = 'unsure' | 'late' | 'busy';

/** Result of a quick check. `recorded`: the row was updated as requested. */
export type QuickCheckOutcome =
  | { missed: QuickCheckMiss }
  | { missed: null; check: CheckMethod; credential: CredentialFacts | null; recorded: boolean };

/** A session to check whenever it is due, and what is recorded while it is unchanged. */
export interface WatchInput {
  target: LoginTarget;
  /** What is known about the attached credential. */
  credential: CredentialFacts | null;
  /** The recorded document. Each check takes the next revision after it. */
  document: ConnectionDocument;
  place: CheckSlot;
  /** Number of the first check, from `checkNumberAt`. */
  firstNumber: number;
  /** Seed of the check ids, which stay the same across retries. */
  watchId: string;
}

/** Why a watch ended: a missed quick check; `overtaken`, if others have written the row; or a result still to be recorded. */
export type WatchEnd =
  | { missed: Exclude<QuickCheckMiss, 'busy'> | 'overtaken' }
  | { missed: null; checkId: string; check: CheckMethod; credential: CredentialFacts | null };

/** Checks that need neither a browser nor a place in a queue. */
export interface QuickCheckActivities {
  /** Checks the profile by the known request and records the result if nothing else has changed. Idempotent. */
  checkQuickly(input: QuickCheckInput): Promise<QuickCheckOutcome>;
  /**
   * Makes and records a quick check on each attempt. While the session is unchanged it fails with `STILL_SIGNED_IN`, to be
   * retried when the next check is due. A retry after a lost worker neither repeats nor skips a record. It ends when
   * something else has to be done.
   */
  watchSession(input: WatchInput): Promise<WatchEnd>;
}
