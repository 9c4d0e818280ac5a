import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { lockFolder } from './server/folder-lock.ts';
import { createFront, type Front } from './server/front.ts';
import { startUpMessage } from './server/frames.ts';
import { keepTidy } from './server/maintenance.ts';
import { makePrivateDir, SOCKET_NAME } from './server/socket-dir.ts';

export { chooseSocketDir } from './server/socket-dir.ts';

/** What {@link startStoreServer} needs. */
export interface StoreServerOptions {
  /** The database's folder; made when absent, mode 0700. One process at a time may use it. */
  dataDir: string;
  /** The socket's folder; made when absent, mode 0700. See `chooseSocketDir` for long paths. */
  socketDir: string;
  /** How long a client may leave a transaction open without a word, in milliseconds. Default 15 seconds. */
  idleInTransactionMs?: number;
}

/** The embedded database, served. */
export interface StoreServer {
  socketDir: string;
  /** Resolves when the database broke; end the process then, the next start recovers it. */
  failed: Promise<Error>;
  /** Hangs up on all clients, rolls back what was open, and closes the database. */
  close(): Promise<void>;
}

/**
 * Settings of the embedded database. It writes each commit to the operating system before it answers, so a killed process
 * loses nothing; it cannot flush disks, so a power cut may: use a real Postgres where that matters. A small log keeps the
 * folder small.
 */
const SETTINGS = ['max_wal_size=96MB', 'min_wal_size=32MB', 'synchronous_commit=on', 'full_page_writes=on'];

/**
 * Opens (or makes) the embedded database and serves it on a unix socket to any number of processes. Throws with a line for
 * the operator when the folder or the socket is in use.
 */
export async function startStoreServer(options: StoreServerOptions): Promise<StoreServer> {
  const { dataDir, socketDir, idleInTransactionMs = 15_000 } = options;
  makePrivateDir(dataDir);
  makePrivateDir(socketDir);
  const unlock = lockFolder(dataDir);
  try {
    const socketPath = join(socketDir, SOCKET_NAME);
    if (await isAnswered(socketPath)) throw new Error(`Another store answers on ${socketPath}; stop it first.`);
    rmSync(socketPath, { force: true });

    const startParams = [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])];
    const database = await openDatabase(dataDir, startParams);
    const run = async (messages: Buffer): Promise<Buffer> =>
      // A copy: the answer lies in memory that the next run writes over.
      Buffer.from(await database.execProtocolRaw(messages));
    let fail: (error: Error) => void = () => undefined;
    const failed = new Promise<Error>((resolve) => (fail = resolve));
    const front = createFront({
      backend: { run },
      greeting: await run(startUpMessage()),
      idleInTransactionMs,
      onFatal: (error) => fail(error),
    });
    await listen(front, socketPath);
    const stopTidying = keepTidy(front);
    return {
      socketDir,
      failed,
      close: async () => {
        stopTidying();
        await front.close();
        await database.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * Opens the database, or makes it first: under another name that is changed when all is there, so that a kill in the middle
 * leaves nothing half made.
 */
async function openDatabase(dataDir: string, startParams: string[]): Promise<PGlite> {
  const folder = join(dataDir, 'pg');
  if (!existsSync(folder)) {
    const unfinished = join(dataDir, 'pg.new');
    rmSync(unfinished, { recursive: true, force: true });
    const made = await PGlite.create({ dataDir: unfinished });
    await made.close();
    renameSync(unfinished, folder);
  }
  return PGlite.create({ dataDir: folder, startParams, extensions: { pg_trgm } });
}

function listen(front: Front, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    front.server.once('error', reject);
    front.server.listen(path, () => {
      front.server.off('error', reject);
      resolve();
    });
  });
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
