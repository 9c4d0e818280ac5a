import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  Worker,
  type NativeConnection,
  type WorkerOptions as TemporalWorkerOptions,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { createBrowserService, type BrowserServiceSettings } from '../browser-client/service.ts';
import { createLoginActivities } from '../activities/login/login-activities.ts';
import { createPages } from '../activities/login/pages.ts';
import { createRecordActivities } from '../activities/records/record-activities.ts';
import type { EgressPolicy } from '../egress/policy.ts';
import type { Store } from '../store/store.ts';
import { TASK_QUEUE } from '../workflows/messages.ts';
import { createDataConverter } from './data-converter/data-converter.ts';

/** What a worker needs. */
export interface WorkerOptions {
  connection: NativeConnection;
  namespace: string;
  store: Store;
  browserService: BrowserServiceSettings;
  egress: EgressPolicy;
  /** 32 bytes; the same on every worker and client. */
  payloadKey: Buffer;
  taskQueue?: string;
  /** A bundle made before; else it is made at start. */
  workflowBundle?: WorkflowBundleWithSourceMap;
  /**
   * The version of this worker in a deployment. Such a worker gets work only after its version was made the current one;
   * workflows move on to the current version by themselves, for their code stays replayable (test/histories).
   */
  version?: { deploymentName: string; buildId: string };
  /** How many workflows are kept in memory; about 250 kB each. Default 1,000. */
  maxCachedWorkflows?: number;
  /** How many browsers this worker drives at once. Default 8. */
  maxConcurrentBrowsers?: number;
}

/** A running worker. */
export interface RunningWorker {
  /** Settles when the worker has ended; rejects when it failed. */
  ended: Promise<void>;
  /** Stops taking work, lets running activities end or be cancelled, then closes what the worker opened. */
  close(): Promise<void>;
}

/** Bundles the workflow code: deterministic code alone, without zod (temporal.md). */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    failureConverterPath: fileURLToPath(new URL('./data-converter/failure-converter.ts', import.meta.url)),
  });
}

/** Options of a worker that belongs to a deployment. */
export function versioned(version: WorkerOptions['version']): Pick<TemporalWorkerOptions, 'workerDeploymentOptions'> {
  if (version === undefined) return {};
  return {
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

/** Starts a worker for the workflows and all their activities. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const service = createBrowserService(options.browserService);
  const pages = createPages(service);
  const deps = { store: options.store, service, pages, egress: options.egress };
  const worker = await Worker.create({
    connection: options.connection,
    namespace: options.namespace,
    taskQueue: options.taskQueue ?? TASK_QUEUE,
    workflowBundle: options.workflowBundle ?? (await bundleWorkflows()),
    activities: { ...createLoginActivities(deps), ...createRecordActivities(options.store) },
    dataConverter: createDataConverter(options.payloadKey),
    maxCachedWorkflows: options.maxCachedWorkflows ?? 1000,
    maxConcurrentActivityTaskExecutions: options.maxConcurrentBrowsers ?? 8,
    ...versioned(options.version),
    shutdownGraceTime: '5 seconds',
    shutdownForceTime: '15 seconds',
  });
  const ended = worker.run();
  // Whoever closes the worker hears of its failure there; nobody may be listening before.
  ended.catch(() => undefined);
  return {
    ended,
    async close() {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended.catch(() => undefined);
      await pages.close();
      await service.close();
    },
  };
}
