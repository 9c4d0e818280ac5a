import { isDeepStrictEqual } from 'node:util';
import type { CredentialFacts, LoginTarget, QuickCheckActivities } from '../../contract/activities.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import type { ConnectionRecord } from '../../contract/document.ts';
import { inTime } from '../../contract/in-time.ts';
import { guard } from './faults.ts';
import { createSessionWatch } from './session-watch.ts';

/** What a quick check is made of. */
export interface QuickCheckParts {
  /** Asks the site by the request that is known to tell; null where that does not say "signed in". Never rejects. */
  ask(target: LoginTarget): Promise<CheckMethod | null>;
  readCredential(target: LoginTarget): Promise<CredentialFacts | null>;
  record(record: ConnectionRecord): Promise<void>;
  /** Revision of the connection's row; null when it is gone. */
  readRevision(connectionId: string): Promise<number | null>;
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
  const askInTime = (target: LoginTarget) => inTime(askOne(target), answerWithinMs, 'late' as const);
  return {
    watchSession: createSessionWatch({ ...parts, ask: askInTime }),
    checkQuickly: guard(async ({ target, credential: known, document, event }) => {
      if (asking >= askedAtOnce) return { missed: 'busy' };
      const check = await askInTime(target);
      if (check === 'late') return { missed: 'late' };
      if (check === null) return { missed: 'unsure' };
      const credential = await parts.readCredential(target);
      const recorded = isDeepStrictEqual(credential, known);
      if (recorded) await parts.record({ document, timeline: [{ ...event, check }] });
      return { missed: null, check, credential, recorded };
    }),
  };
}
