import { readFile } from 'node:fs/promises';
import { ApplicationFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { installRuntime } from '../../workers/runtime.ts';
import { startWorkers } from '../../workers/worker.ts';
import { createScriptedWorld } from '../workflows/scripted-world.ts';

/**
 * A worker whose store fails with a secret in its message: `runtime-process.ts TEMPORAL_ADDRESS METRICS_PORT PAYLOAD_KEY SECRET WORKFLOW_BUNDLE`. It needs a
 * separate process, because there is one SDK runtime per process. Exits when its standard input closes.
 */
const [address = '', metricsPort = '', payloadKey = '', secret = '', bundleFile = ''] = process.argv.slice(2);
installRuntime({ host: '127.0.0.1', metricsPort: Number(metricsPort) });
const connection = await NativeConnection.connect({ address });
const bundle = { code: await readFile(bundleFile, 'utf8'), sourceMap: '' };
const { records, browsing, quickChecks } = createScriptedWorld();
const worker = await startWorkers({
  connection,
  namespace: 'default',
  workflowBundle: bundle,
  payloadKey: Buffer.from(payloadKey, 'hex'),
  records: {
    ...records,
    recordConnection: () => {
      throw ApplicationFailure.create({ message: `The row said ${secret}`, type: 'unavailable', details: [secret] });
    },
  },
  browsing,
  quickChecks,
  webhooks: { deliverNext: () => Promise.resolve({ next: 'none' }) },
});
process.stdin.once('close', () => void worker.close().then(() => process.exit(0)));
process.stdin.resume();
