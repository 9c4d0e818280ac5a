import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { HoldfastError } from '../contract/errors.ts';
import { SecretStoreError } from '../credential-providers/secret-store.ts';
import { BrowserServiceError } from '../browser-client/errors.ts';
import type { ActivityFailure } from '../contract/activities.ts';

/** How long transient failures are retried, in milliseconds. A person may be waiting for the result. */
const MAX_RETRY_MS = 2 * 60_000;

/** Wraps an activity so that only failures with our own codes leave it: a foreign message could quote a page or a URL with a token. */
export function guard<Input, Result>(run: (input: Input) => Promise<Result>): (input: Input) => Promise<Result> {
  return async (input) => {
    try {
      return await run(input);
    } catch (error) {
      if (error instanceof CancelledFailure) throw error;
      throw limitRetries(toFailure(error));
    }
  };
}

function toFailure(error: unknown): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof BrowserServiceError)
    return failure(error.code, error.message, !error.retryable, error.retryAfterSeconds);
  if (error instanceof SecretStoreError)
    return failure(error.code, error.message, error.code !== 'credential_provider_unavailable');
  if (error instanceof HoldfastError && error.code === 'unavailable')
    return failure('service_unavailable', 'the store is not responding', false);
  return failure('internal_error', `an activity failed (${error instanceof Error ? error.name : 'unknown'})`, false);
}

/**
 * Makes a failure final once the activity has been retried for long enough. A browser service or store that is down or full comes
 * back, so it is retried until the activity times out. Only server timestamps are used: a worker's clock may be wrong.
 */
function limitRetries(error: ApplicationFailure): ApplicationFailure {
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs } = Context.current().info;
  const retryingMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs;
  if (error.type === 'service_unavailable' || retryingMs < MAX_RETRY_MS) return error;
  const { type, message } = error;
  return ApplicationFailure.create({ type: type ?? 'internal_error', message, nonRetryable: true });
}

/** Creates an activity failure. The type is from a closed list; the message contains nothing from a page or a person. */
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

/** Well under the heartbeat timeout of the browser activities, so that one late heartbeat is tolerated. */
const HEARTBEAT_INTERVAL_MS = 2000;

/**
 * Wraps an activity as {@link guard} does and sends heartbeats while it runs, so that a lost worker is detected within seconds.
 * `signal` aborts when the activity is canceled. Heartbeats carry no details, which could leak page content.
 */
export function guardWithHeartbeat<Input, Result>(
  run: (input: Input, signal: AbortSignal) => Promise<Result>,
): (input: Input) => Promise<Result> {
  return guard(async (input: Input) => {
    const context = Context.current();
    context.heartbeat();
    const timer = setInterval(() => {
      context.heartbeat();
    }, HEARTBEAT_INTERVAL_MS);
    try {
      return await Promise.race([run(input, context.cancellationSignal), context.cancelled]);
    } finally {
      clearInterval(timer);
    }
  });
}
