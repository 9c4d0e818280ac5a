import type { LoginTarget } from '../../contract/activities.ts';
import type { QuickCheckActivities } from '../../contract/watched-checks.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import { inTime } from '../../contract/in-time.ts';
import { checkOnce } from './check-once.ts';
import { guard } from './faults.ts';
import { createSessionWatch, type WatchParts } from './session-watch.ts';

/** What a quick check is made of. */
export interface QuickCheckParts extends Omit<WatchParts, 'ask'> {
  /** Asks the site by the request that is known to tell; null where that does not say "signed in". Never rejects. */
  ask(target: LoginTarget): Promise<CheckMethod | null>;
}

/** How long a site may take, in milliseconds: it holds a workflow's task. Those that take longer are asked in the queue of checks. */
const ANSWER_WITHIN_MS = 1_000;
/** Sites that a process asks at once: the states of logins are recorded beside them, and are never kept waiting. */
const ASKED_AT_ONCE = 20;

/** Makes the check that needs no browser. It answers in time; a request that is slow goes on, so that no cookie it renews is lost. */
export function createQuickCheck(
  parts: QuickCheckParts,
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
