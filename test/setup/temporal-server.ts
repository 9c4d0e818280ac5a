import { TestWorkflowEnvironment } from '@temporalio/testing';
import { inject } from 'vitest';

type LocalOptions = NonNullable<Parameters<typeof TestWorkflowEnvironment.createLocal>[0]>;
type TimeSkippingOptions = NonNullable<Parameters<typeof TestWorkflowEnvironment.createTimeSkipping>[0]>;

/** How often a server may be slow to start. The SDK gives one five seconds, which a busy machine may take for something else. */
const STARTS = 10;

/** A dev server of Temporal's, whole: worker versions, search attributes, real time. Tear it down. */
export function startDevServer({ server, ...options }: LocalOptions = {}): Promise<TestWorkflowEnvironment> {
  return startPatiently(() =>
    TestWorkflowEnvironment.createLocal({
      ...options,
      server: { ...server, executable: { type: 'existing-path', path: inject('temporalPath') } },
    }),
  );
}

/** A server that skips time while nothing but timers is waited for. Tear it down. */
export function startTimeSkippingServer(options: TimeSkippingOptions = {}): Promise<TestWorkflowEnvironment> {
  return startPatiently(() =>
    TestWorkflowEnvironment.createTimeSkipping({
      ...options,
      server: { executable: { type: 'existing-path', path: inject('testServerPath') } },
    }),
  );
}

async function startPatiently(start: () => Promise<TestWorkflowEnvironment>): Promise<TestWorkflowEnvironment> {
  for (let left = STARTS; ; left -= 1) {
    try {
      return await start();
    } catch (error) {
      if (left === 0 || !(error instanceof Error) || !error.message.includes('did not start within')) throw error;
    }
  }
}
