import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { AppsClient } from '../../client/apps-client.ts';
import type { AppActivities, InvocationFault } from '../../contract/apps.ts';
import type { WorkflowTests } from './environment.ts';

/** Result of a run of an action; a long one ends only with its invocation. */
export type Run = 'done' | 'failed' | 'unavailable' | 'broken' | 'long';

/** Scripted programs of users: the results of their next runs and builds, and what was called. */
export interface AppWorld {
  apps: AppActivities;
  /** In order; the last result repeats. */
  runs: Run[];
  /** In order; a build succeeds by default. */
  builds: ('done' | 'broken')[];
  seen: { isLast: boolean }[];
  ends: (InvocationFault | null)[];
  endedBuilds: number;
  /** Ends long runs that no test needs any longer. */
  finish(): void;
}

/** Creates a world in which every run succeeds. */
export function createAppWorld(): AppWorld {
  let finish = (): void => undefined;
  const over = new Promise<void>((resolve) => (finish = resolve));
  const world: AppWorld = {
    runs: ['done'],
    builds: [],
    seen: [],
    ends: [],
    endedBuilds: 0,
    finish: () => finish(),
    apps: {
      buildDeployment: async () => {
        if (world.builds.shift() === 'broken') throw ApplicationFailure.nonRetryable('it cannot be', 'internal_error');
      },
      endDeployment: async () => {
        world.endedBuilds += 1;
      },
      runInvocation: async ({ isLast }) => {
        world.seen.push({ isLast });
        const run = world.runs.length > 1 ? world.runs.shift() : world.runs[0];
        if (run === 'unavailable')
          throw ApplicationFailure.create({ type: 'service_unavailable', message: 'it is away' });
        if (run === 'broken') throw ApplicationFailure.create({ type: 'browser_error', message: 'it broke off' });
        if (run === 'long') await over;
        return run === 'done' || isLast;
      },
      endInvocation: async ({ fault }) => {
        world.ends.push(fault);
      },
    },
  };
  return world;
}

/** A scenario: returns the id of its finished workflow. */
type AppScenario = (tests: WorkflowTests, client: AppsClient, world: AppWorld) => Promise<string>;

function deployment(...builds: AppWorld['builds']): AppScenario {
  return async (tests, client, world) => {
    world.builds = builds;
    const id = randomUUID();
    await client.deploy(id);
    return await ended(tests, `deployment-${id}`);
  };
}

function invocation(runs: Run[], retries: number, timeoutMs: number, cancels = false): AppScenario {
  return async (tests, client, world) => {
    world.runs = [...runs];
    const invocationId = randomUUID();
    const before = world.seen.length;
    await client.invoke({ invocationId, timeoutMs, retries });
    if (cancels) {
      while (world.seen.length === before) await new Promise((resolve) => setTimeout(resolve, 25));
      await client.cancel('invocation', invocationId);
    }
    return await ended(tests, `invocation-${invocationId}`);
  };
}

async function ended(tests: WorkflowTests, workflowId: string): Promise<string> {
  await tests.env.client.workflow.getHandle(workflowId).result();
  return workflowId;
}

/** A deployment that is built. */
export const deploymentThatWorks = deployment('done');
/** A deployment whose build fails permanently. */
export const deploymentThatFails = deployment('broken');
/** An action that runs once. */
export const invocationThatWorks = invocation(['done'], 0, 600_000);
/** An action that cannot start at first, then loses its worker, fails, and succeeds. */
export const invocationWithRetries = invocation(['unavailable', 'broken', 'failed', 'done'], 5, 600_000);
/** An action canceled by its caller while it runs. */
export const invocationThatIsCanceled = invocation(['long'], 0, 600_000, true);
/** An action that reaches its timeout. */
export const invocationOutOfTime = invocation(['long'], 0, 1000);
