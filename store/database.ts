import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { HoldfastError } from '../contract/errors.ts';
import type { Database } from './schema.ts';

/** Where the database is: a real Postgres by URL, or the folder of the socket of one on this machine. */
export type StoreConnection = { url: string } | { socketDir: string };

/** The query builder over our schema; inside a transaction the same type. */
export type Db = Kysely<Database>;

/** How long a new connection waits for a database that is being restarted, in milliseconds. */
const CONNECT_PATIENCE_MS = 5000;
const CONNECT_RETRY_MS = 100;

/** The database is not there or has just gone: SQLSTATE classes 08 and 57P, an idle transaction ended, errors of sockets. */
const ABSENT = /^(08...|57P0[1-3]|25P03|53300|ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)$/;
/** SQLSTATE of a text with a NUL character, which Postgres cannot keep. */
const NUL_IN_TEXT = '22021';
/** SQLSTATE of a value that a unique index refuses. */
const UNIQUE_VIOLATION = '23505';

/** int8 as a number: our counters stay far below 2^53. */
const INT8_OID = 20;
const types = new pg.TypeOverrides();
types.setTypeParser(INT8_OID, Number);

/** Options of `pg` for a connection to the store. */
export function clientConfig(connection: StoreConnection): pg.ClientConfig {
  const common = { types, keepAlive: true, application_name: 'holdfast' };
  return 'url' in connection
    ? { ...common, connectionString: connection.url }
    : { ...common, host: connection.socketDir, port: 5432, user: 'postgres', database: 'postgres', ssl: false };
}

/** Makes a pool. Nothing is connected until the first query. */
export function createPool(connection: StoreConnection, maxConnections: number): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(connection), max: maxConnections, idleTimeoutMillis: 30_000 });
  // An idle connection that breaks is dropped by the pool; without a listener it would end the process.
  pool.on('error', () => undefined);
  return pool;
}

/** The query builder over a pool; destroying it ends the pool. */
export function openDatabase(pool: pg.Pool): Db {
  const dialect = new PostgresDialect({
    pool: { connect: () => connectPatiently(pool), end: () => pool.end() },
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

/** Rides out a restart of the database: nothing has been sent yet, so trying again is harmless. */
async function connectPatiently(pool: pg.Pool): Promise<pg.PoolClient> {
  const deadline = Date.now() + CONNECT_PATIENCE_MS;
  for (;;) {
    try {
      const client = await pool.connect();
      // A connection can break while a transaction holds it and no query runs; the next query reports that. Without a
      // listener it would end the process.
      if (client.listenerCount('error') === 0) client.on('error', () => undefined);
      return client;
    } catch (error) {
      if (!isAbsent(error) || Date.now() > deadline) throw mapDatabaseError(error);
      await sleep(CONNECT_RETRY_MS);
    }
  }
}

/** True for an error that says the database cannot be reached (now). */
function isAbsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (ABSENT.test(sqlState(error))) return true;
  return /^(Connection terminated|Client has encountered a connection error)/.test(error.message);
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** True when a unique index refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  return sqlState(error) === UNIQUE_VIOLATION;
}

/** Turns errors of the database that a caller can act on into ours; others stay as they are. */
function mapDatabaseError(error: unknown): unknown {
  if (isAbsent(error))
    return new HoldfastError('unavailable', 'The store does not answer; try again', { retryAfterSeconds: 1 });
  if (sqlState(error) === NUL_IN_TEXT)
    return new HoldfastError('invalid_input', 'A text holds a NUL character; leave it out');
  return error;
}
