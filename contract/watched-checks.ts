import type { CredentialFacts, LoginTarget } from './activities.ts';
import type { CheckSlot } from './check-times.ts';
import type { AuthStatus, CheckMethod, TimelineEvent } from './connections.ts';
import type { ConnectionDocument } from './document.ts';

/** The type of the failure by which a check of a watch ends that has found the session as it was: it is tried again at its time. */
export const STILL_SIGNED_IN = 'still_signed_in';

/** A check's event as it begins: what was found, and when. Its id follows from the check's. Pure. */
export function checkEvent(
  checkId: string,
  status: AuthStatus,
  timestamp: string,
): Pick<TimelineEvent, 'id' | 'type' | 'status' | 'timestamp'> {
  return { id: `evt_${checkId.replaceAll('-', '')}`, type: 'health_check', status, timestamp };
}

/** A check that one request may settle, and what is recorded when it finds the profile logged in. */
export interface QuickCheckInput {
  target: LoginTarget;
  /** What is known of the attached credential. Where it is another by now, the workflow says what follows. */
  credential: CredentialFacts | null;
  /** The document after such a check. */
  document: ConnectionDocument;
  /** Its event, without how the check was made. */
  event: TimelineEvent;
}

/** Why a quick check has found nothing: the site did not clearly say "signed in", was slow, or others are asked already. */
export type QuickCheckMiss = 'unsure' | 'late' | 'busy';

/** What a quick check has found. `recorded`: the row is as the input has it. */
export type QuickCheckOutcome =
  | { missed: QuickCheckMiss }
  | { missed: null; check: CheckMethod; credential: CredentialFacts | null; recorded: boolean };

/** A session to look at whenever it is due, and what is recorded as long as it is as it was. */
export interface WatchInput {
  target: LoginTarget;
  /** What is known of the attached credential. */
  credential: CredentialFacts | null;
  /** The document as it is recorded. The looks that follow take the revisions after its own, one each. */
  document: ConnectionDocument;
  place: CheckSlot;
  /** Number of the first look, as `checkNumberAt` has it. */
  firstNumber: number;
  /** What the ids of the checks are made from, the same for each however often it is tried. */
  watchId: string;
}

/** Why a watch ended: as a quick check's miss; `overtaken`: the row is another's; or what it found, which is not recorded yet. */
export type WatchEnd =
  | { missed: Exclude<QuickCheckMiss, 'busy'> | 'overtaken' }
  | { missed: null; checkId: string; check: CheckMethod; credential: CredentialFacts | null };

/** The check that needs neither a browser nor a place in a queue. */
export interface QuickCheckActivities {
  /**
   * Asks by the request that is known to tell whether the profile is logged in, and records it where nothing else has changed.
   * Answers within moments, whatever the site does. May run again: a revision that is not newer changes nothing.
   */
  checkQuickly(input: QuickCheckInput): Promise<QuickCheckOutcome>;
  /**
   * Makes a quick check each time it is tried, and records it. As long as the session is as it was it fails with
   * `STILL_SIGNED_IN`, to be tried again when the next check is due. A try that comes again after a lost worker neither
   * records its check twice nor leaves it out. It is over when there is something to do that it cannot.
   */
  watchSession(input: WatchInput): Promise<WatchEnd>;
}
