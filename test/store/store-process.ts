import { startChild } from '../../start/child-process.ts';
import { postgresServer } from '../../start/postgres/server.ts';

/** The store's server under a process of its own, for tests that kill that: `store-process.ts FOLDER LOG_DIR`. */
const [folder = '', logDir = ''] = process.argv.slice(2);
const server = await startChild(await postgresServer(folder), logDir);
await server.ready;
process.stdout.write('ready\n');
