import type { CredentialFacts } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import type { ReauthBackOff } from '../../contract/document.ts';
import type { CredentialVersion } from '../../contract/login-plan.ts';
import { JITTER } from '../../contract/check-times.ts';
import { isAtVersion } from './credential-version.ts';

/** Milliseconds before the next look at a page that waits for something outside: prompt at first, then ever less often. */
export function nextLookDelayMs(looks: number): number {
  return Math.min(8000, Math.round(1000 * 1.25 ** Math.max(0, looks - 10)));
}

const DAY_MS = 86_400_000;

/** The first pause after a password was posted into a fault of the site, at least: the site may count what it cannot answer. */
const FAULT_PAUSE_SECONDS = 3600;

/**
 * The back-off after a REAUTH that failed for a reason which may pass: one check interval, doubled with each failure in a
 * row, at most a day; an hour at least where the site answered with a fault (`website_error`). Pure.
 * @param code how it ended.
 * @param before the back-off that the failed REAUTH ended, if any.
 * @param credential what it tried: failures of another version do not count.
 */
export function backOffAfter(
  code: FlowErrorCode | null,
  before: ReauthBackOff | null,
  credential: CredentialVersion | null,
  intervalSeconds: number,
  nowMs: number,
): ReauthBackOff {
  const same =
    before?.credential?.credentialId === credential?.credentialId &&
    before?.credential?.version === credential?.version;
  const failures = before !== null && same ? before.failures + 1 : 1;
  const first = code === 'website_error' ? Math.max(intervalSeconds, FAULT_PAUSE_SECONDS) : intervalSeconds;
  const pause = Math.min(DAY_MS, first * 1000 * 2 ** (failures - 1));
  // Less what a check may come early: the check that is due then is the one that tries.
  return { failures, nextAt: new Date(nowMs + pause * (1 - JITTER)).toISOString(), credential };
}

/** True while no REAUTH is to start. A credential that has changed since deserves a try at once. Pure. */
export function isBackingOff(
  backOff: ReauthBackOff | null,
  credential: CredentialFacts | null,
  nowMs: number,
): boolean {
  if (backOff === null || nowMs >= Date.parse(backOff.nextAt)) return false;
  return credential === null || backOff.credential === null || isAtVersion(credential, backOff.credential);
}

/** What the timeline says of a REAUTH that failed, or was not tried: `message`, how often it failed, and when it is due. */
export function withBackOff(message: string | null, { failures, nextAt }: ReauthBackOff): string {
  const times = failures === 1 ? 'once' : `${String(failures)} times in a row`;
  const words = `Logging in again has failed ${times}; the next try is due at ${nextAt}`;
  return message === null ? words : `${message}. ${words}`;
}
