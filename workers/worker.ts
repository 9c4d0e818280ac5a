import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  Worker,
  type NativeConnection,
  type WorkerOptions as TemporalWorkerOptions,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import { createBrowserService, type BrowserServiceSettings } from '../browser-client/service.ts';
import { createCaptchaSolver, type CaptchaSolverSettings } from '../activities/login/captcha/solver-client.ts';
import { createExportDelivery, type ExportStoreSettings } from '../activities/audit-export/delivery.ts';
import { createAuditExportActivities } from '../activities/audit-export/export-activities.ts';
import { credentialFacts } from '../activities/login/credentials/attached-credential.ts';
import { createLoginActivities } from '../activities/login/login-activities.ts';
import { createFormModel, type FormModelSettings } from '../activities/login/reading/form-model.ts';
import { createPages } from '../activities/login/session/pages.ts';
import { createQuickCheck } from '../activities/login/checks/quick-check.ts';
import { checkByRequest } from '../activities/login/checks/request-check.ts';
import { createRecordActivities } from '../activities/records/record-activities.ts';
import { createWebhookActivities } from '../activities/webhooks/deliver.ts';
import { createAppActivities } from '../activities/apps/app-activities.ts';
import type { AppActivities } from '../contract/apps.ts';
import type { AuditExportActivities } from '../contract/audit-export.ts';
import type { LoginActivities, RecordActivities } from '../contract/activities.ts';
import type { QuickCheckActivities, WatchInput } from '../contract/watched-checks.ts';
import type { WebhookActivities } from '../contract/webhooks.ts';
import { createExternalCredentials } from '../credential-providers/external-credentials.ts';
import type { EgressPolicy } from '../egress/policy.ts';
import type { Store } from '../store/store.ts';
import {
  appQueue,
  BROWSER_QUEUES,
  browserQueue,
  exportQueue,
  TASK_QUEUE,
  webhookQueue,
} from '../workflows/messages.ts';
import { createDataConverter } from './data-converter/data-converter.ts';
import type { PayloadKeySource } from './data-converter/payload-codec.ts';

/** What a worker needs. */
export interface WorkerOptions {
  connection: NativeConnection;
  namespace: string;
  store: Store;
  browserService: BrowserServiceSettings;
  egress: EgressPolicy;
  /** Where programs of users reach the API, as the browser service sees it. */
  apiUrl: string;
  /** The same on every worker and client: one key of 32 bytes, or where to find them. */
  payloadKey: Buffer | PayloadKeySource;
  taskQueue?: string;
  /** A bundle made before; else it is made at start. */
  workflowBundle?: WorkflowBundleWithSourceMap;
  /**
   * The version of this worker in a deployment. Such a worker gets work only after its version was made the current one;
   * connections move on to it by themselves, and a flow that is open ends on the version that it began on.
   */
  version?: { deploymentName: string; buildId: string };
  /** How many workflows are kept in memory; about 250 kB each. Default 1,000. */
  maxCachedWorkflows?: number;
  concurrency?: Partial<Concurrency>;
  /** A model that is asked between login forms which look alike; without one the rules decide alone. */
  model?: FormModelSettings | undefined;
  /** A solver that is asked about captchas before a person is; without one a person alone solves them. */
  captchaSolver?: CaptchaSolverSettings | undefined;
  /** How export destinations are reached; by default as AWS's own are. */
  exportStore?: ExportStoreSettings | undefined;
}

/** How much this process does at once, by whom it is done for. */
export interface Concurrency {
  /** Browser steps of logins with a person. Default 8. */
  people: number;
  /** Health checks and re-authentications. Default 4. */
  checks: number;
  /** Writes to the store that are tried again after a failure. Default 50. */
  records: number;
  /** Deliveries to webhooks. Default 20. */
  webhooks: number;
  /** Builds and runs of programs. Default 10. */
  apps: number;
  /** Objects of the audit log on their way to destinations, some 10 MB of memory each. Default 4. */
  exports: number;
}

const CONCURRENCY: Concurrency = { people: 8, checks: 4, records: 50, webhooks: 20, apps: 10, exports: 4 };

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

/** Starts the workers of this process: workflows and records, logins of people, checks, deliveries to webhooks, programs and exports, each on a queue of its own. */
export async function startWorker(options: WorkerOptions): Promise<RunningWorker> {
  const service = createBrowserService(options.browserService);
  const pages = createPages(service);
  const externalCredentials = createExternalCredentials({
    providers: options.store.credentialProviders,
    egress: options.egress,
  });
  const model = options.model === undefined ? undefined : createFormModel(options.model);
  const captchas = options.captchaSolver === undefined ? undefined : createCaptchaSolver(options.captchaSolver);
  const deps = { store: options.store, service, pages, egress: options.egress, externalCredentials, model, captchas };
  const records = createRecordActivities(options.store);
  const workers = await startWorkers({
    ...options,
    workflowBundle: options.workflowBundle ?? (await bundleWorkflows()),
    records,
    quickChecks: createQuickCheck({
      ask: (target) => checkByRequest(deps, target),
      readCredential: (target) => credentialFacts(deps, target),
      record: (state) => records.recordConnection(state),
      readRevision: async (connectionId) => (await records.readRecorded({ connectionId }))?.revision ?? null,
    }),
    browsing: createLoginActivities(deps),
    webhooks: createWebhookActivities(options.store, options.egress),
    apps: createAppActivities({ store: options.store, service, apiUrl: options.apiUrl }),
    auditExports: createAuditExportActivities(
      options.store,
      createExportDelivery(options.exportStore ?? {}, options.egress),
    ),
  });
  return {
    ended: workers.ended,
    async close() {
      await workers.close();
      await pages.close();
      await service.close();
    },
  };
}

/** What {@link startWorkers} needs: the options of a worker, with its activities made. */
export interface WorkersOptions extends Pick<
  WorkerOptions,
  'connection' | 'namespace' | 'payloadKey' | 'taskQueue' | 'version' | 'maxCachedWorkflows' | 'concurrency'
> {
  workflowBundle: WorkflowBundleWithSourceMap;
  records: RecordActivities;
  quickChecks: QuickCheckActivities;
  browsing: LoginActivities;
  webhooks: WebhookActivities;
  /** Without them the worker builds and runs no programs. */
  apps?: AppActivities;
  /** Without them the worker exports nothing. */
  auditExports?: AuditExportActivities;
}

/** Starts one Temporal worker for each queue. They end together: one that fails takes the others with it. */
export async function startWorkers(options: WorkersOptions): Promise<RunningWorker> {
  const taskQueue = options.taskQueue ?? TASK_QUEUE;
  const concurrency = { ...CONCURRENCY, ...options.concurrency };
  const common = {
    connection: options.connection,
    namespace: options.namespace,
    dataConverter: createDataConverter(options.payloadKey),
    ...versioned(options.version),
    shutdownGraceTime: '5 seconds',
    shutdownForceTime: '15 seconds',
  } as const;
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue,
      workflowBundle: options.workflowBundle,
      activities: { ...options.records, ...options.quickChecks },
      maxCachedWorkflows: options.maxCachedWorkflows ?? 1000,
      maxConcurrentActivityTaskExecutions: concurrency.records,
    }),
    ...BROWSER_QUEUES.map((queue) =>
      Worker.create({
        ...common,
        taskQueue: browserQueue(taskQueue, queue),
        activities: {
          ...options.browsing,
          watchSession: (input: WatchInput) => options.quickChecks.watchSession(input),
        },
        maxConcurrentActivityTaskExecutions: concurrency[queue],
      }),
    ),
    Worker.create({
      ...common,
      taskQueue: webhookQueue(taskQueue),
      activities: { ...options.webhooks },
      maxConcurrentActivityTaskExecutions: concurrency.webhooks,
    }),
    ...(options.apps === undefined ? [] : [options.apps]).map((activities) =>
      Worker.create({
        ...common,
        taskQueue: appQueue(taskQueue),
        activities: { ...activities },
        maxConcurrentActivityTaskExecutions: concurrency.apps,
      }),
    ),
    ...(options.auditExports === undefined ? [] : [options.auditExports]).map((activities) =>
      Worker.create({
        ...common,
        taskQueue: exportQueue(taskQueue),
        activities: { ...activities },
        maxConcurrentActivityTaskExecutions: concurrency.exports,
      }),
    ),
  ]);
  const stop = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run().finally(stop));
  const ended = Promise.all(runs).then(() => undefined);
  // Whoever closes the worker hears of its failure there; nobody may be listening before.
  ended.catch(() => undefined);
  return {
    ended,
    async close() {
      stop();
      await Promise.allSettled(runs);
    },
  };
}
