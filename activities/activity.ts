import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { HoldfastError } from '../contract/errors.ts';
import { SecretStoreError } from '../credential-providers/secret-store.ts';
import { BrowserServiceError } from '../browser-client/errors.ts';
import type { ActivityFailure } from '../contract/activities.ts';

/** How long a fault that may pass is tried against, in milliseconds. A person may be waiting in front of it. */
const MAX_TRYING_MS = 2 * 60_000;

/** Makes an activity of `run`. No foreign error leaves it: its message could hold a page's words or an address with a token. */
export function guard<Input, Result>(run: (input: Input) => Promise<Result>): (input: Input) => Promise<Result> {
  return async (input) => {
    try {
      return await run(input);
    } catch (error) {
      if (error instanceof CancelledFailure) throw error;
      throw withPatience(asFailure(error));
    }
  };
}

function asFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof BrowserServiceError) {
    return failure(error.code, error.message, !error.retryable, error.retryAfterSeconds);
  }
  if (error instanceof SecretStoreError)
    return failure(error.code, error.message, error.code !== 'credential_provider_unavailable');
  if (error instanceof HoldfastError && error.code === 'unavailable')
    return failure('service_unavailable', 'the store does not answer', false);
  return failure('internal_error', `an activity failed (${error instanceof Error ? error.name : 'unknown'})`, false);
}

/**
 * The failure of one try, final when the activity has been tried long enough. A browser service or a store that is down or
 * full comes back: it is waited for as long as the activity may take, and its restarts, however many, are not counted as
 * tries. Times are the server's alone, for a worker's clock may be wrong.
 */
function withPatience(error: ApplicationFailure): ApplicationFailure {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  const tryingMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  if (error.type === 'service_unavailable' || tryingMs < MAX_TRYING_MS) return error;
  return ApplicationFailure.create({
    type: error.type ?? 'internal_error',
    message: error.message,
    nonRetryable: true,
  });
}

/** An activity's failure: its type is from a closed list, its message holds nothing of a page or a person. */
export function failure(
  type: ActivityFailure,
  message: string,
  nonRetryable: boolean,
  retryAfterSeconds?: number,
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable,
    ...(retryAfterSeconds === undefined ? {} : { nextRetryDelay: retryAfterSeconds * 1000 }),
  });
}

/** Well under the heartbeat time-out of the browser activities, so that one late beat is forgiven. */
const BEAT_EVERY_MS = 2000;

/**
 * Runs an activity's work under a heartbeat: a lost worker is noticed within seconds, and a cancelled activity stops.
 * Heartbeats carry no details: they would be another way out for what a page says.
 */
export async function withHeartbeat<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const context = Context.current();
  context.heartbeat();
  const beat = setInterval(() => {
    context.heartbeat();
  }, BEAT_EVERY_MS);
  try {
    return await Promise.race([work(context.cancellationSignal), context.cancelled]);
  } finally {
    clearInterval(beat);
  }
}
