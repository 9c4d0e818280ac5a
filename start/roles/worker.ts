import { NativeConnection } from '@temporalio/worker';
import { createEgressPolicy } from '../../egress/policy.ts';
import { installRuntime } from '../../workers/runtime.ts';
import { startWorker } from '../../workers/worker.ts';
import { browserBaseUrl, connectTemporal, openStore } from '../connections.ts';
import { sharedKeys } from '../keys.ts';
import { startSweeper } from '../sweeper.ts';
import loadWorkflowBundle from '../workflow-bundle.prebuilt.ts';
import { runRole } from './run-role.ts';

await runRole('worker', async (settings, keys) => {
  installRuntime({ host: settings.host, metricsPort: settings.metricsPort });
  const { connection, namespace } = await connectTemporal(settings, (options) => NativeConnection.connect(options));
  const store = await openStore(settings, keys);
  const worker = await startWorker({
    connection,
    namespace,
    store,
    browserService: { baseUrl: browserBaseUrl(settings), apiKey: keys.browserApiKey },
    egress: createEgressPolicy(settings.allowPrivateHosts),
    workflowBundle: await loadWorkflowBundle(),
    concurrency: settings.concurrency,
    ...(settings.workerVersion === undefined ? {} : { version: settings.workerVersion }),
    payloadKey: (await sharedKeys(store, keys)).payloadKeys,
  });
  const sweeper = startSweeper(store);
  return {
    ended: worker.ended,
    async close() {
      sweeper.stop();
      await worker.close();
      await store.close();
      await connection.close();
    },
  };
});
