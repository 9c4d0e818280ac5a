import { startStoreServer } from '../../store/server.ts';

/** A store server as a process of its own, for tests that kill it: `store-process.ts DATA_DIR SOCKET_DIR`. */
const [dataDir = '', socketDir = ''] = process.argv.slice(2);
const server = await startStoreServer({ dataDir, socketDir });
process.stdout.write('ready\n');
void server.failed.then(() => process.exit(1));
