import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { LoginTarget } from '../../contract/activities.ts';
import type { CredentialVersion, LoginPlan, RequiredField } from '../../contract/login-plan.ts';
import type { CodeChannel } from '../../contract/reading.ts';
import { createBrowserActivities } from './activities.ts';
import type { FlowEnd } from './context.ts';
import { linkToEntity } from './entity-link.ts';
import { runFlow } from './run-flow.ts';

/** What a flow is started with. */
export interface FlowInput {
  flowId: string;
  target: LoginTarget;
  expiresAt: string;
  refused: CredentialVersion | null;
  /** The credential whose authenticator codes the site refused. Absent in histories that are older than it. */
  refusedCodes?: CredentialVersion | null;
  /** Fields of earlier logins. Absent in histories that are older than it. */
  knownFields?: RequiredField[];
  /** Plans that may be followed with nobody there, best first. Absent in histories that are older than it. */
  plans?: LoginPlan[];
  /** Channels whose codes come by themselves. Absent in histories that are older than it. */
  codeChannels?: CodeChannel[];
  saveCredentials: boolean;
}

/** Logs in with a person who answers what is not stored. Its whole outcome is told to the entity that started it. */
export async function login(input: FlowInput): Promise<void> {
  await runAsChild(input, 'attended');
}

/** Logs in again with what is stored, nobody there: the same step machine, which never waits for a person. */
export async function reauth(input: FlowInput): Promise<void> {
  await runAsChild(input, 'unattended');
}

async function runAsChild(input: FlowInput, mode: 'attended' | 'unattended'): Promise<void> {
  const scope = new CancellationScope();
  const link = linkToEntity(input.flowId, () => {
    scope.cancel();
  });
  const queue = mode === 'attended' ? 'people' : 'checks';
  const browser = createBrowserActivities(queue, input.target.organizationId);
  const remaining = Math.max(1, Date.parse(input.expiresAt) - Date.now());
  let end: FlowEnd;
  try {
    const flow = () => runFlow({ ...input, mode, browser, report: link.report, awaitAnswer: link.awaitAnswer });
    const result = await scope.run(() => CancellationScope.withTimeout(remaining, flow));
    end = { status: result.status, result };
  } catch (error) {
    if (Date.now() >= Date.parse(input.expiresAt)) end = { status: 'EXPIRED', result: null };
    else end = { status: isCancellation(error) ? 'CANCELED' : 'FAILED', result: null };
  }
  await CancellationScope.nonCancellable(() => link.tellEnd(end));
}
