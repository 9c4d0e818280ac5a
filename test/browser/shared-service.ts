import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { it as plain } from 'vitest';
import { startService } from './service-under-test.ts';

/**
 * `it` of files that are content with a browser service as {@link startService} makes it: the files of a worker share
 * one, which a file takes in `it.beforeAll(async ({ service }) => …)` and leaves without a session when it ends.
 */
export const it = plain
  // What the set-up provides; without it `sharedService` would have nothing to take, which Vitest forbids.
  .extend('chromiumPath', { scope: 'worker', injected: true }, '')
  .extend('sharedService', { scope: 'worker' }, async ({ chromiumPath }, { onCleanup }) => {
    const service = await startService({ chromiumPath });
    onCleanup(() => service.stop());
    return service;
  })
  .extend('service', { scope: 'file' }, ({ sharedService }, { onCleanup }) => {
    const { kernel, logs, workDir } = sharedService;
    onCleanup(async () => {
      const { items } = await kernel.browsers.list({ limit: 100 });
      await Promise.all(items.map(({ session_id: id }) => kernel.browsers.deleteByID(id)));
      // A session of another project, say: the next file would find it.
      const left = await readdir(path.join(workDir, 'sessions'));
      if (left.length > 0) throw new Error(`This file leaves sessions open: ${left.join(', ')}`);
      logs.length = 0;
    });
    return sharedService;
  });
