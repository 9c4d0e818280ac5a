import { join } from 'node:path';
import { startStoreServer } from '../../store/server.ts';
import { storeSocketDir } from '../connections.ts';
import { runRole } from './run-role.ts';

await runRole('store', async (settings) => {
  const server = await startStoreServer({
    dataDir: join(settings.dataDir, 'store'),
    socketDir: storeSocketDir(settings),
  });
  return {
    // A database that broke is recovered by the next start of this process.
    ended: server.failed.then((error) => Promise.reject(error)),
    close: () => server.close(),
  };
});
