import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { HoldfastError } from '../contract/errors.ts';
import type { Database } from './schema.ts';

/** How to reach Postgres: a URL, or the socket folder of a server on this machine. */
export type StoreConnection = { url: string } | { socketDir: string };

/** The query builder over our schema; a transaction has the same type. */
export type Db = Kysely<Database>;

/** How long a new connection waits for a database that is restarting, in milliseconds. */
const CONNECT_TIMEOUT_MS = 5000;
const CONNECT_RETRY_MS = 100;

/** The database is unreachable: SQLSTATE classes 08 and 57P, a terminated idle transaction, socket errors. */
const UNAVAILABLE =
  /^(08...|57P0[1-3]|25P03|53300|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;
/** SQLSTATE of text with a NUL character, which Postgres cannot store. */
const NUL_IN_TEXT = '22021';
/** SQLSTATE of a value that a unique index rejects. */
const UNIQUE_VIOLATION = '23505';

/** int8 as a number: our counters stay far below 2^53. */
const INT8_OID = 20;
const types = new pg.TypeOverrides();
types.setTypeParser(INT8_OID, Number);

/** `pg` options for a connection to the store. */
export function clientConfig(connection: StoreConnection): pg.ClientConfig {
  const common = { types, keepAlive: true, application_name: 'holdfast' };
  return 'url' in connection
    ? { ...common, connectionString: connection.url }
    : { ...common, host: connection.socketDir, port: 5432, user: 'postgres', database: 'postgres', ssl: false };
}

/** Creates a pool. It connects on the first query. */
export function createPool(connection: StoreConnection, maxConnections: number): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(connection), max: maxConnections, idleTimeoutMillis: 30_000 });
  // The pool drops a broken idle connection; without a listener the error would end the process.
  pool.on('error', () => undefined);
  return pool;
}

/** The query builder over a pool; destroying it ends the pool. */
export function openDatabase(pool: pg.Pool): Db {
  const dialect = new PostgresDialect({
    pool: { connect: () => connectWithRetry(pool), end: () => pool.end() },
    onCreateConnection: (connection) => {
      const execute = connection.executeQuery.bind(connection);
      connection.executeQuery = async (query) => {
        try {
          return await execute(query);
        } catch (error) {
          throw mapDatabaseError(error);
        }
      };
      return Promise.resolve();
    },
  });
  return new Kysely<Database>({ dialect });
}

/** Survives a restart of the database. Nothing has been sent yet, so retrying is harmless. */
async function connectWithRetry(pool: pg.Pool): Promise<pg.PoolClient> {
  const deadline = Date.now() + CONNECT_TIMEOUT_MS;
  for (;;) {
    try {
      const client = await pool.connect();
      // A connection can break while a transaction holds it without running a query; the next query reports that.
      // Without a listener the error would end the process.
      if (client.listenerCount('error') === 0) client.on('error', () => undefined);
      return client;
    } catch (error) {
      if (!isUnavailable(error) || Date.now() > deadline) throw mapDatabaseError(error);
      await sleep(CONNECT_RETRY_MS);
    }
  }
}

/** True for an error that means the database is unreachable. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (UNAVAILABLE.test(sqlState(error))) return true;
  return /^(Connection terminated|Client has encountered a connection error)/.test(error.message);
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Awaits a write. Throws `already_exists` with `message` if a unique index rejects it. */
export async function rejectDuplicate<Result>(write: Promise<Result>, message: string): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw sqlState(error) === UNIQUE_VIOLATION ? new HoldfastError('already_exists', message) : error;
  }
}

/** Maps database errors that a caller can act on; others stay as they are. */
function mapDatabaseError(error: unknown): unknown {
  if (isUnavailable(error))
    return new HoldfastError('unavailable', 'The database is unreachable; try again', { retryAfterSeconds: 1 });
  if (sqlState(error) === NUL_IN_TEXT)
    return new HoldfastError('invalid_input', 'Text must not contain NUL characters; remove them');
  return error;
}
