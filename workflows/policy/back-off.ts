import type { CredentialFacts } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import type { ReauthBackOff } from '../../contract/document.ts';
import type { CredentialVersion } from '../../contract/login-plan.ts';
import { JITTER } from '../../contract/check-times.ts';
import { isAtVersion } from './credential-version.ts';

const DAY_MS = 86_400_000;

/** Shortest first pause after a password was submitted and the site failed: the site may count the attempt. */
const MIN_SITE_ERROR_PAUSE_S = 3600;

/**
 * The back-off after a REAUTH that failed for a possibly temporary reason: one check interval, doubled with each consecutive
 * failure with the same credential version, at most a day; at least an hour after a `website_error`. Pure.
 */
export function backOffAfter(
  code: FlowErrorCode | null,
  before: ReauthBackOff | null,
  credential: CredentialVersion | null,
  intervalSeconds: number,
  nowMs: number,
): ReauthBackOff {
  const isSameVersion =
    before?.credential?.credentialId === credential?.credentialId &&
    before?.credential?.version === credential?.version;
  const failures = before !== null && isSameVersion ? before.failures + 1 : 1;
  const first = code === 'website_error' ? Math.max(intervalSeconds, MIN_SITE_ERROR_PAUSE_S) : intervalSeconds;
  const pause = Math.min(DAY_MS, first * 1000 * 2 ** (failures - 1));
  // Minus the time by which a check may come early, so that the check due then is the one that retries.
  return { failures, nextAt: new Date(nowMs + pause * (1 - JITTER)).toISOString(), credential };
}

/** True while no REAUTH may start. A credential that has changed since is tried at once. Pure. */
export function isBackingOff(
  backOff: ReauthBackOff | null,
  credential: CredentialFacts | null,
  nowMs: number,
): boolean {
  if (backOff === null || nowMs >= Date.parse(backOff.nextAt)) return false;
  return credential === null || backOff.credential === null || isAtVersion(credential, backOff.credential);
}

/** The timeline message of a failed or delayed REAUTH: `message`, the number of failures and when the next is due. */
export function withBackOff(message: string | null, { failures, nextAt }: ReauthBackOff): string {
  const times = failures === 1 ? 'once' : `${String(failures)} times in a row`;
  const backOff = `Logging in again has failed ${times}; the next try is due at ${nextAt}`;
  return message === null ? backOff : `${message}. ${backOff}`;
}
