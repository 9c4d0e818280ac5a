import { ChildProcess } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { queryObjects } from 'node:v8';
import { collectGarbage } from './held-memory.ts';
import { startQuietService } from './quiet-service.ts';

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

/**
 * A service in a process of its own that answers messages with what it holds on to: `processes` with how many processes it
 * knows of, ended ones that something holds on to, too, every other one with {@link Holdings}.
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
