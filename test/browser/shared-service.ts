import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { it as plain } from 'vitest';
import { startService } from './service-under-test.ts';

/**
 * `it` for files that need only a default browser service, which the files of a worker share. A file gets it in
 * `it.beforeAll(async ({ service }) => …)` and must leave no session open.
 */
export const it = plain
  // Vitest requires that a worker fixture gets injected values through another fixture.
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
      // For example a session of another project, which the next file would find.
      const left = await readdir(path.join(workDir, 'sessions'));
      if (left.length > 0) throw new Error(`This file left sessions open: ${left.join(', ')}`);
      logs.length = 0;
    });
    return sharedService;
  });
