import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { clientConfig } from '../../store/database.ts';
import type { ChildSpec } from '../child-process.ts';
import { postgresFolder } from '../backends.ts';
import { SetupError } from '../setup/setup-error.ts';
import { clusterMajor, openCluster, prepareCluster } from './cluster.ts';
import { findPostgres } from './binaries.ts';
import { socketDirOf } from './socket.ts';

/** Options of {@link postgresServer}. */
interface PostgresServerOptions {
  /** False for tests: commits then return before they are on disk. */
  durable?: boolean;
  /** Maximum clients. Default 100: five processes with a pool each need about half. */
  maxConnections?: number;
}

/**
 * The store of a data folder, as a child to start. Rejects with a {@link SetupError} without changes if the folder contains a
 * store of version 0.1, which used another database.
 */
export async function localStore(dataDir: string): Promise<ChildSpec> {
  const folder = postgresFolder(dataDir);
  if (!existsSync(folder) && existsSync(join(dataDir, 'store', 'pg'))) {
    throw new SetupError(
      `${join(dataDir, 'store')} is the store of Holdfast 0.1, which this version cannot read; set ` +
        'HOLDFAST_DATA_DIR to a new folder (docs/operations.md, "From 0.1")',
    );
  }
  return postgresServer(folder);
}

/**
 * The Postgres server of a data folder, as a child to start; creates its database if missing. It listens only on a socket in
 * that folder, and accepts only the user of this process. Only one start at a time may use a folder: a leftover server of an
 * earlier one is ended. Rejects with a `SetupError` if there is no usable server.
 */
export async function postgresServer(folder: string, options: PostgresServerOptions = {}): Promise<ChildSpec> {
  const { durable = true, maxConnections = 100 } = options;
  const binaries = await findPostgres(await clusterMajor(folder));
  const cluster = await openCluster(folder, binaries, durable);
  const settings: Record<string, string> = {
    cluster_name: cluster.name,
    listen_addresses: '',
    port: '5432',
    // Relative to the data folder, the server's working directory, so that no path is too long.
    unix_socket_directories: '.',
    max_connections: String(maxConnections),
    fsync: durable ? 'on' : 'off',
    synchronous_commit: durable ? 'on' : 'off',
    full_page_writes: durable ? 'on' : 'off',
    // Small: a few clients, and data that is mostly in the system's cache.
    shared_buffers: '32MB',
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    // No replication, and no query of ours benefits from parallel workers.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_logical_replication_workers: '0',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    ...(binaries.major >= 18 ? { io_method: 'sync' } : {}),
    // A process that hangs in a transaction must not block the others forever.
    idle_in_transaction_session_timeout: '60s',
    // The log contains server events, but never a statement or its values.
    log_min_messages: 'warning',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_parameter_max_length_on_error: '0',
  };
  return {
    name: 'store',
    kind: 'foreign',
    ...cluster.command(
      join(binaries.folder, 'postgres'),
      Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ),
    ...cluster.launch,
    prepare: () => prepareCluster(cluster),
    probe: () => isReady(folder),
    // Fast shutdown: rolls back open transactions; SIGTERM would wait until all clients have disconnected.
    stopSignal: 'INT',
    stage: 0,
    // Recovery after a kill replays the log since the last checkpoint.
    readyWithinMs: 120_000,
    stopWithinMs: 20_000,
  };
}

async function isReady(folder: string): Promise<boolean> {
  const client = new pg.Client({ ...clientConfig({ socketDir: socketDirOf(folder) }), connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } finally {
    await client.end().catch(() => undefined);
  }
}
