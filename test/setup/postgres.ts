import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startChild } from '../../start/child-process.ts';
import { postgresServer } from '../../start/postgres/server.ts';
import { socketDirOf } from '../../start/postgres/socket.ts';
import { createStore } from '../../store/store.ts';

/** A Postgres server for one test run. */
export interface TestPostgres {
  /** Connection URL of a superuser. Tests create their databases from {@link TEMPLATE_DATABASE}. */
  url: string;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

/** An empty database with the schema of this build. */
export const TEMPLATE_DATABASE = 'holdfast_template';

/** Connections for a whole run: several test files and process trees at once. */
const MAX_CONNECTIONS = 300;

/** Starts the server of `npm start` in a temporary folder, without durability. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const parent = await mkdtemp(join(tmpdir(), 'holdfast-pg-'));
  const folder = join(parent, 'postgres');
  const removed = (): Promise<void> => rm(parent, { recursive: true, force: true });
  try {
    const server = await startChild(
      await postgresServer(folder, { durable: false, maxConnections: MAX_CONNECTIONS }),
      parent,
    );
    await server.ready;
    const url = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socketDirOf(folder))}`;
    await makeTemplate(url);
    return {
      url,
      async stop() {
        await server.stop(() => undefined);
        await removed();
      },
    };
  } catch (error) {
    await removed();
    throw error;
  }
}

/** The URL of another database of the same server. */
export function databaseUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`create database ${TEMPLATE_DATABASE}`);
  await admin.end();
  const store = createStore({ connection: { url: databaseUrl(url, TEMPLATE_DATABASE) }, masterKey: randomBytes(32) });
  await store.migrate();
  // Postgres copies a database only without connections to it.
  await store.close();
}
