import { startBrowserService } from '../browser/service.ts';
import { memoryPools } from '../test/browser/memory-pools.ts';
import { createEgressPolicy } from '../egress/policy.ts';

/**
 * A browser service for measurements: the real one, without a store and without logs. Arguments: its folder, Chromium, the
 * number of browsers kept warm, and its key. Says its URL over the channel, and ends with it.
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
    save: () => Promise.reject(new Error('no profiles here')),
  },
  proxies: { open: () => Promise.resolve({ outcome: 'none' }) },
  extensions: { use: () => Promise.resolve(null) },
  pools: memoryPools(),
  logger: { info: nothing, warn: nothing, error: nothing },
});
process.on('disconnect', () => void service.close().then(() => process.exit(0)));
process.send?.(service.url);
