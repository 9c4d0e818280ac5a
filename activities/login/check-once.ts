import { isDeepStrictEqual } from 'node:util';
import type { CredentialFacts, LoginTarget } from '../../contract/activities.ts';
import type { QuickCheckInput, QuickCheckOutcome } from '../../contract/watched-checks.ts';
import type { CheckMethod } from '../../contract/connections.ts';
import type { ConnectionRecord } from '../../contract/document.ts';

/** What one check by a request is made of. */
export interface CheckParts {
  /** Asks the site; null where it does not clearly say "signed in", `late` where it takes long. */
  ask(target: LoginTarget): Promise<CheckMethod | null | 'late'>;
  readCredential(target: LoginTarget): Promise<CredentialFacts | null>;
  record(record: ConnectionRecord): Promise<void>;
}

/** Makes one check by a request, and records it where the session and its credential are as they were. Rejects as its parts do. */
export async function checkOnce(
  parts: CheckParts,
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
