import { NativeConnection } from '@temporalio/worker';
import { endInvocationBrowsers } from '../../browser-client/programs.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import { createCodeInbox } from '../../codes/inbox.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { startWorker } from '../../workers/worker.ts';
import { browserBaseUrl, connectTemporal, openStore } from '../backends.ts';
import { sharedKeys } from '../keys.ts';
import { startCodeDelivery, startReviver, startSweeper, startWebhookDispatcher } from '../periodic-tasks.ts';
import { startAppReviver, startExportReviver } from '../revivers.ts';
import { openTemporalClients } from '../temporal-clients.ts';
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
  const clients = await openTemporalClients({ connection, namespace, store, keys: shared, settings });
  const { connections, apps, auditExports, webhookLanes } = clients;
  const service = createBrowserService(browserService);
  const tasks = [
    startSweeper(store),
    startReviver(store, connections),
    startAppReviver({ store, apps, endBrowsers: (project, id) => endInvocationBrowsers(service, project, id) }),
    startExportReviver(store.auditExportDestinations, auditExports),
    startWebhookDispatcher(store.webhookDeliveries, webhookLanes),
    startCodeDelivery(createCodeInbox({ store, connections, clock: () => new Date() })),
  ];
  // Playwright loads slowly: load it once the worker is ready, before its first login.
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
