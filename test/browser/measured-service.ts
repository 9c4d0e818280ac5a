import { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { queryObjects } from 'node:v8';
import { collectGarbage } from './held-memory.ts';
import { startQuietService } from './quiet-service.ts';

/** Resources in use by a process. */
export interface Holdings {
  /** Live objects after a collection, in bytes. */
  heap: number;
  /** Buffers outside of the heap, in bytes. */
  external: number;
  /** All memory in bytes, including socket buffers. */
  resident: number;
  /** Open files, sockets and pipes. */
  descriptors: number;
  /** Timers, servers, child processes and the like, by kind. */
  resources: Record<string, number>;
}

/**
 * A service in a separate process. It responds to the message `processes` with the number of ChildProcess objects on the heap,
 * to `close` by exiting, and to all others with {@link Holdings}.
 */
const [workDir = '', chromiumPath = ''] = process.argv.slice(2);
const service = await startQuietService({ chromiumPath, workDir, maxSessions: 10, warmBrowsers: 1 });
process.on('message', (message) => {
  if (message === 'close') void service.close().then(() => process.exit(0));
  else process.send?.(message === 'processes' ? queryObjects(ChildProcess, { format: 'count' }) : measure());
});
process.send?.({ url: service.url });

function measure(): Holdings {
  collectGarbage();
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  const { heapUsed, external, rss } = process.memoryUsage();
  const descriptors = readdirSync('/proc/self/fd').length;
  return { heap: heapUsed, external, resident: rss, descriptors, resources };
}
