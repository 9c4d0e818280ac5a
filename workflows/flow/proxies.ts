import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type { LoginActivities, RecordActivities } from '../../contract/activities.ts';

/** Failures that another try cannot mend. */
const FINAL = [
  'session_gone',
  'domain_not_allowed',
  'entry_uncertain',
  'submission_gone',
  'element_not_found',
  'not_found',
  'invalid_request',
];

/** A lost worker is noticed by a missing heartbeat within seconds, not at the end of a long time-out. */
const HEARTBEAT = '8 seconds';

/**
 * Browser activities that may run again: reading, opening, finishing. They wait for a browser service that is down; faults
 * that stay are made final by the activities themselves.
 */
export const browsing = proxyActivities<Omit<LoginActivities, 'enterAnswer' | 'abandonLogin' | 'watchExternalAction'>>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: {
    initialInterval: '500 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '5 seconds',
    nonRetryableErrorTypes: FINAL,
  },
});

/**
 * Typing runs at most once: a second run could type a password twice. The ledger keeps it so, whatever is lost when; that
 * an entering which has not claimed it is tried again spares the person the question.
 */
export const typing = proxyActivities<Pick<LoginActivities, 'enterAnswer'>>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '20 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '500 milliseconds', maximumInterval: '5 seconds', nonRetryableErrorTypes: FINAL },
});

/** Waiting for something outside; its length is bounded by its argument. */
export const watching = proxyActivities<Pick<LoginActivities, 'watchExternalAction'>>({
  startToCloseTimeout: '12 minutes',
  scheduleToCloseTimeout: '20 minutes',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '1 second', maximumInterval: '5 seconds', nonRetryableErrorTypes: FINAL },
});

/** Closing a session gives up after a while: the browser service ends what nobody uses. */
export const closing = proxyActivities<Pick<LoginActivities, 'abandonLogin'>>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '1 minute',
  heartbeatTimeout: HEARTBEAT,
  retry: { initialInterval: '1 second', nonRetryableErrorTypes: FINAL },
});

/** Writes of a few milliseconds: local, so that recording a state costs one event of history. */
export const records = proxyLocalActivities<RecordActivities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 day',
  localRetryThreshold: '10 seconds',
  retry: { initialInterval: '200 milliseconds', maximumInterval: '10 seconds' },
});
