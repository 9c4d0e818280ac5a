import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { inject } from 'vitest';

type LocalOptions = NonNullable<Parameters<typeof TestWorkflowEnvironment.createLocal>[0]>;
type TimeSkippingOptions = NonNullable<Parameters<typeof TestWorkflowEnvironment.createTimeSkipping>[0]>;

/** How often a slow start is retried. The SDK allows five seconds, which may be too short on a busy machine. */
const STARTS = 10;

/** A complete Temporal dev server: worker versions, search attributes, real time. Tear it down. */
export function startDevServer({ server, ...options }: LocalOptions = {}): Promise<TestWorkflowEnvironment> {
  return startPatiently(() =>
    TestWorkflowEnvironment.createLocal({
      ...options,
      server: { ...server, executable: { type: 'existing-path', path: inject('temporalPath') } },
    }),
  );
}

/** A time-skipping server, which skips time while only timers are pending. Tear it down. */
export function startTimeSkippingServer(options: TimeSkippingOptions = {}): Promise<TestWorkflowEnvironment> {
  return startPatiently(() =>
    TestWorkflowEnvironment.createTimeSkipping({
      ...options,
      server: { executable: { type: 'existing-path', path: inject('testServerPath') } },
    }),
  );
}

async function startPatiently(start: () => Promise<TestWorkflowEnvironment>): Promise<TestWorkflowEnvironment> {
  quietRuntime();
  for (let left = STARTS; ; left -= 1) {
    try {
      return await start();
    } catch (error) {
      if (left === 0 || !(error instanceof Error) || !error.message.includes('did not start within')) throw error;
    }
  }
}

/** Hides the start and stop messages of workers. Once per process: it has one runtime, which the first worker would install. */
let isQuiet = false;
function quietRuntime(): void {
  if (isQuiet) return;
  isQuiet = true;
  Runtime.install({ logger: new DefaultLogger('WARN') });
}
