import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

/** How long a fault that may pass is tried against, in milliseconds. A person may be waiting in front of it. */
const MAX_TRYING_MS = 2 * 60_000;

/**
 * The failure of one try of an activity, final when it has been tried long enough. A browser service that is down or full
 * (`service_unavailable`) comes back: it is waited for as long as the activity may take, and its restarts, however many,
 * are not counted as tries. Times are the server's alone, for a worker's clock may be wrong.
 */
export function withPatience(
  failure: ApplicationFailure,
  info: Pick<Info, 'scheduledTimestampMs' | 'currentAttemptScheduledTimestampMs'>,
): ApplicationFailure {
  const tryingMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  if (failure.type === 'service_unavailable' || tryingMs < MAX_TRYING_MS) return failure;
  const { type, message } = failure;
  return ApplicationFailure.create({ type: type ?? 'internal_error', message, nonRetryable: true });
}
