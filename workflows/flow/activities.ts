import { ActivityCancellationType, proxyActivities, workflowInfo, type ActivityOptions } from '@temporalio/workflow';
import type { LoginActivities } from '../../contract/activities.ts';
import { browserQueue, type BrowserQueue } from '../messages.ts';

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

/** A browser service that is down is waited for; faults that stay are made final by the activities themselves. */
const RETRY = {
  initialInterval: '500 milliseconds',
  backoffCoefficient: 2,
  maximumInterval: '5 seconds',
  nonRetryableErrorTypes: FINAL,
} as const;

/** The browser activities as a workflow calls them. */
export type BrowserActivities = LoginActivities;

/**
 * The browser activities on the queue of who waits for them. Under the fairness key an organization's thousand checks hold
 * up nobody else's, on servers that know it.
 */
export function createBrowserActivities(queue: BrowserQueue, organizationId: string): BrowserActivities {
  const common: ActivityOptions = {
    taskQueue: browserQueue(workflowInfo().taskQueue, queue),
    priority: { fairnessKey: organizationId },
    heartbeatTimeout: HEARTBEAT,
    startToCloseTimeout: '2 minutes',
    scheduleToCloseTimeout: '10 minutes',
    retry: RETRY,
  };
  const reading = proxyActivities<LoginActivities>(common);
  // A look that nobody waits for any more is not waited for either.
  const looking = proxyActivities<LoginActivities>({
    ...common,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
  });
  // The ledger has it typed at most once, whatever is lost when; that an entering which has not claimed it is tried again
  // spares the person the question.
  const typing = proxyActivities<LoginActivities>({ ...common, scheduleToCloseTimeout: '20 minutes' });
  // There is somebody else to ask, or another login later: a fault that stays is not worked against for long.
  const solving = proxyActivities<LoginActivities>({ ...common, scheduleToCloseTimeout: '3 minutes' });
  // Closing gives up after a while: the browser service ends what nobody uses.
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
