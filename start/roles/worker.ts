import { NativeConnection } from '@temporalio/worker';
import { endInvocationBrowsers } from '../../browser-client/programs.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import { createCodeInbox } from '../../codes/inbox.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { startWorker } from '../../workers/worker.ts';
import { browserBaseUrl, connectTemporal, openStore } from '../connections.ts';
import {
  openAppsClient,
  openAuditExportsClient,
  openConnectionsClient,
  openWebhookLanes,
} from '../connections-client.ts';
import { sharedKeys } from '../keys.ts';
import { startAppReviver } from '../app-reviver.ts';
import { startExportReviver } from '../export-reviver.ts';
import { startCodeDelivery, startReviver, startSweeper, startWebhookDispatcher } from '../sweeper.ts';
import loadWorkflowBundle from '../workflow-bundle.prebuilt.ts';
import { runRole } from './run-role.ts';

await runRole('worker', async (settings, keys) => {
  installRuntime({ host: settings.host, metricsPort: settings.metricsPort });
  const { connection, namespace } = await connectTemporal(settings, (options) => NativeConnection.connect(options));
  const store = await openStore(settings, keys);
  const shared = await sharedKeys(store, keys);
  const browserService = { baseUrl: browserBaseUrl(settings), apiKey: keys.browserApiKey };
  const worker = await startWorker({
    connection,
    namespace,
    store,
    browserService,
    egress: createEgressPolicy(settings.allowPrivateHosts),
    apiUrl: settings.apiUrl,
    workflowBundle: await loadWorkflowBundle(),
    concurrency: settings.concurrency,
    model: settings.model,
    captchaSolver: settings.captchaSolver,
    exportStore: settings.exportStore,
    ...(settings.workerVersion === undefined ? {} : { version: settings.workerVersion }),
    payloadKey: shared.payloadKeys,
  });
  const connections = await openConnectionsClient({ connection, namespace, store, keys: shared, settings });
  const lanes = openWebhookLanes({ connection, namespace, keys: shared });
  const apps = openAppsClient({ connection, namespace, keys: shared });
  const service = createBrowserService(browserService);
  const tasks = [
    startSweeper(store),
    startReviver(store, connections),
    startAppReviver({ store, apps, endBrowsers: (project, id) => endInvocationBrowsers(service, project, id) }),
    startExportReviver(store.auditExportDestinations, openAuditExportsClient({ connection, namespace, keys: shared })),
    startWebhookDispatcher(store.webhookDeliveries, lanes),
    startCodeDelivery(createCodeInbox({ store, connections, clock: () => new Date() })),
  ];
  // It takes as long to load as all else of a worker: that is done when this one is ready, before its first login.
  setImmediate(() => void import('playwright-core'));
  return {
    ended: worker.ended,
    async close() {
      for (const task of tasks) task.stop();
      await worker.close();
      await service.close();
      await store.close();
      await connection.close();
    },
  };
});
