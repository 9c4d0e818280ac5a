import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  proxyActivities,
  sleep,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow';
import type { AppActivities, InvocationFault } from '../contract/apps.ts';
import { appQueue } from './messages.ts';

/** A worker without a heartbeat for this long is considered lost. */
const HEARTBEAT = '20 seconds';
/** Shortest and longest pause before an action is retried, in milliseconds. */
const PAUSE_MS = { first: 1000, longest: 60_000 };
/** How long cleanup is retried. */
const CLEAN_UP = { startToCloseTimeout: '1 minute', scheduleToCloseTimeout: '1 day' } as const;

interface DeployInput {
  deploymentId: string;
}

/** Builds a deployment. If its worker is lost, another one starts the build over. */
export async function deployApp({ deploymentId }: DeployInput): Promise<void> {
  const taskQueue = appQueue(workflowInfo().taskQueue);
  const { buildDeployment } = proxyActivities<AppActivities>({
    taskQueue,
    startToCloseTimeout: '15 minutes',
    scheduleToCloseTimeout: '1 hour',
    heartbeatTimeout: HEARTBEAT,
    retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  });
  const { endDeployment } = proxyActivities<AppActivities>({ taskQueue, ...CLEAN_UP });
  try {
    await buildDeployment({ deploymentId });
  } catch {
    await CancellationScope.nonCancellable(() => endDeployment({ deploymentId }));
  }
}

/** `timeoutMs`: limit for all runs together, from the start of the workflow. */
interface InvokeInput {
  invocationId: string;
  timeoutMs: number;
  retries: number;
}

/** Runs a program's action until its timeout. Failed and lost runs count as retries, those that never started do not. */
export async function invokeAction({ invocationId, timeoutMs, retries }: InvokeInput): Promise<void> {
  const taskQueue = appQueue(workflowInfo().taskQueue);
  const { endInvocation } = proxyActivities<AppActivities>({ taskQueue, ...CLEAN_UP });
  let fault: InvocationFault | null = null;
  try {
    fault = await runToItsEnd({ invocationId, timeoutMs, retries }, taskQueue);
  } catch (error) {
    fault = isCancellation(error) ? 'canceled' : 'lost';
  }
  await CancellationScope.nonCancellable(() => endInvocation({ invocationId, fault }));
}

async function runToItsEnd(
  { invocationId, timeoutMs, retries }: InvokeInput,
  taskQueue: string,
): Promise<InvocationFault | null> {
  const deadline = Date.now() + timeoutMs;
  let pause: number = PAUSE_MS.first;
  let fault: InvocationFault | null = null;
  for (let failures = 0; ;) {
    const left = deadline - Date.now();
    if (left <= 0) return fault ?? 'timed_out';
    const { runInvocation } = proxyActivities<AppActivities>({
      taskQueue,
      scheduleToCloseTimeout: left,
      heartbeatTimeout: HEARTBEAT,
      // Retries are decided here.
      retry: { maximumAttempts: 1 },
    });
    try {
      if (await runInvocation({ invocationId, isLast: failures >= retries })) return null;
      failures += 1;
    } catch (error) {
      if (isCancellation(error)) throw error;
      fault = faultOf(error);
      if (fault === 'timed_out') return fault;
      if (fault === 'lost') failures += 1;
      if (failures > retries) return fault;
    }
    await sleep(Math.min(pause, Math.max(deadline - Date.now(), 1)));
    pause = Math.min(pause * 2, PAUSE_MS.longest);
  }
}

function faultOf(error: unknown): InvocationFault {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return cause.timeoutType === 'HEARTBEAT' ? 'lost' : 'timed_out';
  return cause instanceof ApplicationFailure && cause.type === 'service_unavailable' ? 'unavailable' : 'lost';
}
