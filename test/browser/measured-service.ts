import { readdirSync } from 'node:fs';
import { startBrowserService } from '../../browser/service.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { API_KEY, memoryProfiles } from './memory-profiles.ts';

/** What a process holds on to. */
export interface Holdings {
  /** Live objects after a collection, in bytes. */
  heap: number;
  /** Buffers outside of the heap, in bytes. */
  external: number;
  /** All its memory, in bytes: what waits in sockets and between threads, too. */
  resident: number;
  /** Open files, sockets and pipes. */
  descriptors: number;
  /** Timers, servers, child processes and the like, by kind. */
  resources: Record<string, number>;
}

/** A service in a process of its own that answers every message with what it holds on to (run it with `--expose-gc`). */
const [workDir = '', chromiumPath = ''] = process.argv.slice(2);
const quiet = (): void => undefined;
const service = await startBrowserService({
  port: 0,
  apiKey: API_KEY,
  chromiumPath,
  workDir,
  maxSessions: 10,
  warmBrowsers: 1,
  policy: PUBLIC_ONLY,
  profiles: memoryProfiles(),
  proxies: { open: async () => ({ outcome: 'none' }) },
  logger: { info: quiet, warn: quiet, error: quiet },
});
process.on('message', (message) => {
  if (message === 'close') void service.close().then(() => process.exit(0));
  else process.send?.(measure());
});
process.send?.({ url: service.url });

function measure(): Holdings {
  globalThis.gc?.();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const { heapUsed, external, rss } = process.memoryUsage();
  const descriptors = readdirSync('/proc/self/fd').length;
  return { heap: heapUsed, external, resident: rss, descriptors, resources };
}
