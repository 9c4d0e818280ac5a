import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { withPatience } from '../../activities/login/patience.ts';

const tried = (ms: number) => ({ scheduledTimestampMs: 5_000, currentAttemptScheduledTimestampMs: 5_000 + ms });

it.each([
  ['browser_error', 119_000, false],
  ['browser_error', 120_000, true],
  ['internal_error', 120_000, true],
  ['service_unavailable', 9 * 60_000, false],
])('a %s after %i ms is final: %s', (type, ms, isFinal) => {
  const failure = withPatience(ApplicationFailure.retryable('what happened', type), tried(ms));
  expect(failure).toMatchObject({ type, message: 'what happened', nonRetryable: isFinal });
});
