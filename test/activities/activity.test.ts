import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it } from 'vitest';
import { guard } from '../../activities/activity.ts';
import { BrowserServiceError } from '../../browser-client/errors.ts';
import { HoldfastError } from '../../contract/errors.ts';

/** What an activity ends with whose work throws this, so long after it was first due. */
function failureOf(thrown: Error, triedMs: number): Promise<unknown> {
  const times = { scheduledTimestampMs: 5_000, currentAttemptScheduledTimestampMs: 5_000 + triedMs };
  const activity = guard(() => Promise.reject(thrown));
  return new MockActivityEnvironment(times).run(activity, null).catch((error: unknown) => error);
}

it.each([
  ['browser_error', 119_000, false],
  ['browser_error', 120_000, true],
  ['session_gone', 120_000, true],
  ['service_unavailable', 9 * 60_000, false],
])('marks %s after %i ms as final: %s', async (type, triedMs, isFinal) => {
  const failure = await failureOf(ApplicationFailure.retryable('what happened', type), triedMs);
  expect(failure).toMatchObject({ type, message: 'what happened', nonRetryable: isFinal });
});

it.each([
  [new BrowserServiceError('session_gone', 'The browser session has ended', false), undefined],
  [new BrowserServiceError('service_unavailable', 'The browser service is at capacity', true, 7), 7000],
])('keeps code, retry delay and retryability of a browser service error: %s', async (error, delay) => {
  const failure = await failureOf(error, 0);
  const { code: type, message, retryable } = error;
  expect(failure).toMatchObject({ type, message, nonRetryable: !retryable });
  expect((failure as ApplicationFailure).nextRetryDelay).toBe(delay);
});

it('keeps retrying while the store is unavailable', async () => {
  const failure = await failureOf(new HoldfastError('unavailable', 'The store does not answer'), 9 * 60_000);
  expect(failure).toMatchObject({ type: 'service_unavailable', nonRetryable: false });
});

it('drops the message of a foreign error', async () => {
  const failure = await failureOf(new TypeError('a page said: secret'), 0);
  expect(failure).toMatchObject({ type: 'internal_error', nonRetryable: false });
  expect((failure as Error).message).not.toContain('secret');
});
