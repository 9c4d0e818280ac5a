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

/** Options of {@link startWorker}. */
export interface WorkerOptions {
  connection: NativeConnection;
  namespace: string;
  store: Store;
  browserService: BrowserServiceSettings;
  egress: EgressPolicy;
  /** API URL for users' programs, as seen from the browser service. */
  apiUrl: string;
  /** The same on every worker and client: one 32-byte key, or where to find the keys. */
  payloadKey: Buffer | PayloadKeySource;
  taskQueue?: string;
  /** A prebuilt bundle; without one it is built at start. */
  workflowBundle?: WorkflowBundleWithSourceMap;
  /** The version of this worker. Connections move to the current version; an open flow stays on its own. */
  version?: { deploymentName: string; buildId: string };
  /** How many workflows are kept in memory; about 250 kB each. Default 1,000. */
  maxCachedWorkflows?: number;
  concurrency?: Partial<Concurrency>;
  /** A model that chooses between similar login forms; without one the rules decide alone. */
  model?: FormModelSettings | undefined;
  /** A solver that is asked about captchas first; without one a person solves them. */
  captchaSolver?: CaptchaSolverSettings | undefined;
  /** How export destinations are reached; by default like AWS's own. */
  exportStore?: ExportStoreSettings | undefined;
}

/** Maximum concurrent activities of this process, by kind. */
export interface Concurrency {
  /** Browser steps of logins with a person. Default 8. */
  people: number;
  /** Health checks and re-authentications. Default 4. */
  checks: number;
  /** Regular (not local) store writes. Default 50. */
  records: number;
  /** Deliveries to webhooks. Default 20. */
  webhooks: number;
  /** Builds and runs of programs. Default 10. */
  apps: number;
  /** Uploads of audit log objects, some 10 MB of memory each. Default 4. */
  exports: number;
}

const CONCURRENCY: Concurrency = { people: 8, checks: 4, records: 50, webhooks: 20, apps: 10, exports: 4 };

/** A running worker. */
export interface RunningWorker {
  /** Resolves when the worker has stopped; rejects if it failed. */
  ended: Promise<void>;
  /** Stops polling, lets running activities finish or be canceled, then closes what the worker opened. */
  close(): Promise<void>;
}

/**
 * Bundles the workflow code, which is deterministic and free of zod. Its modules are loaded once per worker and not once per cached
 * workflow, which saves a third of the memory, so they hold no state: what they export is frozen.
 */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  const workflowsPath = fileURLToPath(new URL('../workflows/index.ts', import.meta.url));
  return bundleWorkflowCode({
    workflowsPath,
    preloadModules: [workflowsPath],
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

/** Starts all workers of this process. */
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

/** Options of {@link startWorkers}: those of a worker, with its activities created. */
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

/** Starts one Temporal worker per queue. They stop together: if one fails, the others shut down. */
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
  const activityWorker = (queue: string, activities: object, limit: number): Promise<Worker> =>
    Worker.create({ ...common, taskQueue: queue, activities, maxConcurrentActivityTaskExecutions: limit });
  const { apps, auditExports, quickChecks } = options;
  const browsing = {
    ...options.browsing,
    watchSession: (input: WatchInput) => quickChecks.watchSession(input),
  };
  const workers = await Promise.all([
    Worker.create({
      ...common,
      taskQueue,
      workflowBundle: options.workflowBundle,
      activities: { ...options.records, ...quickChecks },
      maxCachedWorkflows: options.maxCachedWorkflows ?? 1000,
      maxConcurrentActivityTaskExecutions: concurrency.records,
    }),
    ...BROWSER_QUEUES.map((queue) => activityWorker(browserQueue(taskQueue, queue), browsing, concurrency[queue])),
    activityWorker(webhookQueue(taskQueue), options.webhooks, concurrency.webhooks),
    ...(apps === undefined ? [] : [activityWorker(appQueue(taskQueue), apps, concurrency.apps)]),
    ...(auditExports === undefined ? [] : [activityWorker(exportQueue(taskQueue), auditExports, concurrency.exports)]),
  ]);
  const stop = (): void => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  const runs = workers.map((worker) => worker.run().finally(stop));
  const ended = Promise.all(runs).then(() => undefined);
  // `close` reports a failure; nobody may be listening before.
  ended.catch(() => undefined);
  return {
    ended,
    async close() {
      stop();
      await Promise.allSettled(runs);
    },
  };
}
