import { ActivityCancellationType, proxyActivities, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { LoginActivities } from '../../contract/activities.ts';
import { browserQueue, type BrowserQueue } from '../messages.ts';

/** Failures that no retry can fix. */
const FINAL = [
  'session_gone',
  'domain_not_allowed',
  'entry_uncertain',
  'submission_gone',
  'element_not_found',
  'not_found',
  'invalid_request',
];

/** A lost worker is detected by a missing heartbeat within seconds, not after a long timeout. */
const HEARTBEAT = '8 seconds';

/** Waits for a browser service that is down; the activities mark permanent errors as final themselves. */
const RETRY = {
  initialInterval: '500 milliseconds',
  backoffCoefficient: 2,
  maximumInterval: '5 seconds',
  nonRetryableErrorTypes: FINAL,
} as const;

/** The browser activities on a queue. The fairness key keeps one organization's checks from delaying others'. */
export function createBrowserActivities(queue: BrowserQueue, organizationId: string): LoginActivities {
  const common: ActivityOptions = {
    taskQueue: browserQueue(workflowInfo().taskQueue, queue),
    priority: { fairnessKey: organizationId },
    heartbeatTimeout: HEARTBEAT,
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '10 minutes',
    retry: RETRY,
  };
  const reading = proxyActivities<LoginActivities>(common);
  // Nobody waits for the result of a canceled reading.
  const looking = proxyActivities<LoginActivities>({
    ...common,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  // The ledger guarantees at most one entry, so a lost attempt that has not claimed it can be retried without asking the
  // person again.
  const typing = proxyActivities<LoginActivities>({ ...common, scheduleToCloseTimeout: '20 minutes' });
  // A person or a later login can take over, so a persistent error is not retried for long.
  const solving = proxyActivities<LoginActivities>({ ...common, scheduleToCloseTimeout: '3 minutes' });
  // Closing gives up after a while: the browser service ends unused sessions.
  const closing = proxyActivities<LoginActivities>({
    ...common,
    startToCloseTimeout: '30 seconds',
    scheduleToCloseTimeout: '1 minute',
  });
  return {
    openSession: reading.openSession,
    discoverLogin: reading.discoverLogin,
    readPage: looking.readPage,
    enterAnswer: typing.enterAnswer,
    openLink: typing.openLink,
    askSolver: solving.askSolver,
    takeSolution: solving.takeSolution,
    finishLogin: reading.finishLogin,
    abandonLogin: closing.abandonLogin,
    checkHealth: reading.checkHealth,
  };
}
