import { startBrowserService } from '../browser/service.ts';
import { memoryPools } from '../test/browser/memory-pools.ts';
import { createEgressPolicy } from '../egress/policy.ts';

/**
 * The browser service for measurements, without a store and logs. Arguments: its work folder, Chromium, the number of warm
 * browsers, and its API key. Sends its URL over the IPC channel and exits when the channel closes.
 */
const [workDir = '', chromiumPath = '', warm = '0', apiKey = ''] = process.argv.slice(2);
const nothing = (): void => undefined;
const service = await startBrowserService({
  port: 0,
  apiKey,
  chromiumPath,
  workDir,
  maxSessions: 20,
  warmBrowsers: Number(warm),
  policy: createEgressPolicy('localhost'),
  profiles: {
    lookUp: () => Promise.resolve(null),
    load: () => Promise.resolve(null),
    save: () => Promise.reject(new Error('profiles are not supported')),
  },
  proxies: { open: () => Promise.resolve({ outcome: 'none' }) },
  extensions: { use: () => Promise.resolve(null) },
  pools: memoryPools(),
  logger: { info: nothing, warn: nothing, error: nothing },
});
process.on('disconnect', () => void service.close().then(() => process.exit(0)));
process.send?.(service.url);
