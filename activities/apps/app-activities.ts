import { BrowserServiceError } from '../../browser-client/errors.ts';
import { endInvocationBrowsers, runProgram, sendProgram } from '../../browser-client/programs.ts';
import type { BrowserService } from '../../browser-client/service.ts';
import { type AppActivities, BUILD_TIMEOUT_S, type InvocationFault, MAX_OUTPUT } from '../../contract/apps.ts';
import { assertNever } from '../../contract/assert-never.ts';
import { BuiltApps, type ProgramEnd } from '../../contract/programs.ts';
import type { ProgramSource } from '../../store/queries/deployments.ts';
import type { InvocationRecord } from '../../store/queries/invocations.ts';
import type { Store } from '../../store/store.ts';
import { guard, guardWithHeartbeat } from '../activity.ts';
import { withEventLog, type EventLog } from './event-log.ts';

/** Dependencies of the app activities. `apiUrl`: URL of the API as reachable from the browser service. */
export interface AppActivityDeps {
  store: Pick<Store, 'deployments' | 'invocations' | 'appEvents' | 'apiKeys'>;
  service: BrowserService;
  apiUrl: string;
}

const NO_SANDBOX: ProgramEnd = {
  outcome: 'failed',
  reason:
    'Programs cannot run: the host of the browser service has no sandbox; its operator can install bubblewrap, or set ' +
    'BROWSER_ALLOW_UNSANDBOXED_PROCESSES=on',
};

/** Creates the activities that build and run programs. */
export function createAppActivities({ store, service, apiUrl }: AppActivityDeps): AppActivities {
  const build = async (id: string, source: ProgramSource, log: EventLog, signal: AbortSignal): Promise<ProgramEnd> => {
    const archive = await store.deployments.archive(id);
    if (archive === null) return { outcome: 'failed', reason: 'The archive of the deployment is gone; deploy again' };
    const { projectId, entrypoint, envVars } = source;
    // Programs create their clients on load. Only actions get a key that works.
    const env = { ...envVars, KERNEL_API_KEY: 'given-to-actions-alone' };
    const run = { kind: 'build', entrypoint, env, timeout_sec: BUILD_TIMEOUT_S } as const;
    for (let isRetry = false; ; isRetry = true) {
      if (!(await sendProgram(service, projectId, id, archive, signal))) return NO_SANDBOX;
      try {
        return await runProgram(service, { projectId, id }, run, (event) => log.add(event), signal);
      } catch (error) {
        // A browser service that has been restarted has lost the archive.
        if (isRetry || !isForgotten(error)) throw error;
      }
    }
  };

  const runAction = async (invocation: InvocationRecord, source: ProgramSource, log: EventLog, signal: AbortSignal) => {
    const { id, projectId, organizationId, deploymentId, expiresAt } = invocation;
    const key = await store.apiKeys.createForInvocation({ organizationId, projectId }, id, expiresAt);
    const run = {
      kind: 'action',
      entrypoint: source.entrypoint,
      env: { ...source.envVars, KERNEL_API_KEY: key },
      timeout_sec: Math.max(1, Math.ceil((expiresAt.getTime() - Date.now()) / 1000)),
      app: invocation.appName,
      action: invocation.actionName,
      invocation_id: id,
      payload: invocation.payload,
      api_url: apiUrl,
    } as const;
    return runProgram(service, { projectId, id: deploymentId }, run, (event) => log.add(event), signal);
  };

  return {
    buildDeployment: guardWithHeartbeat(async ({ deploymentId }, signal) => {
      const source = await store.deployments.source(deploymentId);
      if (source === null || !(await store.deployments.begin(deploymentId))) return;
      const subject = { table: 'deployments', id: deploymentId } as const;
      const end = await withEventLog(store.appEvents, subject, (log) => build(deploymentId, source, log, signal));
      const failure =
        end.outcome === 'answered' ? await saveBuild(store, deploymentId, end.answer) : describeFailure(end, 'build');
      if (failure !== null) await store.deployments.end(deploymentId, 'failed', failure);
    }),
    endDeployment: guard(async ({ deploymentId }) => {
      const reason = 'The build was lost, or the browser service cannot be reached; deploy again';
      await store.deployments.end(deploymentId, 'failed', reason);
    }),
    runInvocation: guardWithHeartbeat(async ({ invocationId, isLast }, signal) => {
      const invocation = await store.invocations.byId(invocationId);
      if (invocation === null || invocation.finishedAt !== null) return true;
      const source = await store.deployments.source(invocation.deploymentId);
      if (source === null || !(await store.invocations.begin(invocationId))) return true;
      // A failed or lost run leaves browsers behind, which may hold the names and profiles that this run needs.
      if (invocation.status === 'running') await endInvocationBrowsers(service, invocation.projectId, invocationId);
      const subject = { table: 'invocations', id: invocationId } as const;
      const end = await withEventLog(store.appEvents, subject, (log) =>
        runAction(invocation, source, log, signal).catch(async (error: unknown) => {
          if (!isForgotten(error)) throw error;
          // Another host, or one that has been restarted, needs the build first.
          const built = await build(invocation.deploymentId, source, log, signal);
          return built.outcome === 'answered' ? runAction(invocation, source, log, signal) : built;
        }),
      );
      if (end.outcome === 'answered') {
        const output = end.answer === null ? {} : { output: end.answer };
        await store.invocations.end(invocationId, 'succeeded', output);
        return true;
      }
      const reason = describeFailure(end, 'action');
      if (isLast || end.outcome === 'timed_out') {
        await store.invocations.end(invocationId, 'failed', { reason });
        return true;
      }
      const message = `The action failed and is retried: ${reason}`;
      await store.appEvents.append(subject, [{ body: { event: 'log', message } }]);
      return false;
    }),
    endInvocation: guard(async ({ invocationId, fault }) => {
      const invocation = await store.invocations.byId(invocationId);
      if (invocation === null) return;
      await store.invocations.end(invocationId, 'failed', { reason: FAULTS[fault ?? 'lost'] });
      await store.apiKeys.removeForInvocation(invocationId);
      await endInvocationBrowsers(service, invocation.projectId, invocationId);
    }),
  };
}

/** Whether the browser service no longer has what it was sent. */
function isForgotten(error: unknown): boolean {
  return error instanceof BrowserServiceError && error.code === 'session_gone';
}

const FAULTS: Record<InvocationFault, string> = {
  timed_out: 'The invocation timed out',
  lost: 'The worker or browser service that ran the action was lost; it is unknown what the action has done',
  canceled: 'The invocation was ended',
  unavailable: 'The browser service could not be reached before the invocation timed out',
};

/** Saves the result of a build. Returns why it cannot be saved, or null. */
async function saveBuild(store: AppActivityDeps['store'], id: string, answer: string | null): Promise<string | null> {
  const taken = await store.deployments.finish(id, BuiltApps.parse(JSON.parse(answer ?? '[]')));
  return taken === null
    ? null
    : `version: ${taken} is already deployed; choose another version, or send \`force: true\``;
}

function describeFailure(end: Exclude<ProgramEnd, { outcome: 'answered' }>, what: 'build' | 'action'): string {
  switch (end.outcome) {
    case 'failed':
      return end.reason;
    case 'timed_out':
      return what === 'build' ? `The build took longer than ${String(BUILD_TIMEOUT_S)} seconds` : FAULTS.timed_out;
    case 'exited':
      return `The program ended before the ${what} finished (exit code ${String(end.exit_code)}); it may have run out of memory`;
    case 'too_large':
      return `The output exceeds ${String(MAX_OUTPUT)} characters of JSON`;
    default:
      return assertNever(end);
  }
}
