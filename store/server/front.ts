import { createServer, type Server } from 'node:net';
import { CLIENT, fatalError, frame, lastStatus, type TransactionStatus } from './frames.ts';
import { createOwnSession, createSocketSession, type Session } from './session.ts';

/** The one backend that all clients share: runs protocol bytes and answers protocol bytes. */
export interface Backend {
  run(messages: Buffer): Promise<Buffer>;
}

/** What {@link createFront} needs. */
export interface FrontOptions {
  backend: Backend;
  /** What the backend said to its own first message: the answer to every client's. */
  greeting: Buffer;
  /** How long a client may hold an open transaction without a word, in milliseconds: nobody else is served meanwhile. */
  idleInTransactionMs: number;
  /** The backend broke: nothing can be served any more. */
  onFatal: (error: Error) => void;
}

/** A Postgres server for many clients over one backend. */
export interface Front {
  server: Server;
  /** Runs statements of the server's own between those of clients, outside any transaction. */
  runOwn(sql: string): Promise<void>;
  /** How many pieces of work clients have had done so far. */
  served(): number;
  /** Drops every client; open transactions are rolled back. */
  close(): Promise<void>;
}

/**
 * Serves many clients over one embedded backend. A client's messages are collected up to the point where the server
 * answers (Sync, Query, …) and run in one piece; while the backend is not idle after that (a transaction is open), the
 * client keeps it to itself. So neither transactions nor prepared statements of two clients ever mix. A client that goes
 * away in mid-transaction is rolled back.
 *
 * Session settings (`SET`, `LISTEN`, session advisory locks, temporary tables) would be shared by all: do not use them.
 */
export function createFront({ backend, greeting, idleInTransactionMs, onFatal }: FrontOptions): Front {
  const sessions = new Set<Session>();
  /** Sessions with a chunk to run, first come first served. */
  let waiting: Session[] = [];
  /** The session that has the backend to itself. */
  let owner: Session | null = null;
  let pumping = false;
  let served = 0;
  let closing = false;
  let drained: () => void = () => undefined;

  async function pump(): Promise<void> {
    if (pumping) return;
    pumping = true;
    try {
      for (let next = take(); next !== null; next = take()) await step(next);
    } catch (error) {
      closing = true;
      onFatal(error instanceof Error ? error : new Error('The database broke.'));
    } finally {
      pumping = false;
      if (closing) drained();
    }
  }

  /** Who is served next: the owner alone while there is one, even if it has nothing to say yet. */
  function take(): Session | null {
    if (owner !== null) return owner.closed || owner.chunks.length > 0 ? owner : null;
    waiting = waiting.filter((session) => !isSpent(session));
    return waiting.shift() ?? null;
  }

  async function step(session: Session): Promise<void> {
    clearTimeout(session.idleTimer);
    if (!session.closed) return serve(session);
    await cleanUp(session);
    owner = null;
  }

  async function serve(session: Session): Promise<void> {
    const chunk = session.chunks.shift();
    if (chunk === undefined) return;
    owner = session;
    served += 1;
    const answer = await backend.run(chunk);
    const status = lastStatus(answer);
    session.answer(answer);
    if (status === 'I') {
      owner = null;
      if (session.chunks.length > 0 || session.closed) waiting.push(session);
    } else if (!session.closed && session.chunks.length === 0) {
      session.idleTimer = setTimeout(() => {
        session.end(fatalError('25P03', 'The transaction was idle for too long; it was rolled back.'));
      }, idleInTransactionMs);
    }
  }

  /** Leaves no trace of a session that is gone: its transaction, its prepared statements. */
  async function cleanUp(session: Session): Promise<void> {
    if (owner === session) {
      // Out of a COPY, out of an unfinished extended query, then out of the transaction.
      let status: TransactionStatus | null = lastStatus(
        await backend.run(Buffer.concat([frame(CLIENT.copyFail, Buffer.from('\0')), frame(CLIENT.sync)])),
      );
      if (status !== 'I') status = lastStatus(await backend.run(query('ROLLBACK')));
      if (status !== 'I') throw new Error('The database did not roll back a transaction.');
    }
    const names = [...session.statements];
    session.statements.clear();
    if (names.length === 0) return;
    const closes = names.map((name) => frame(CLIENT.close, Buffer.from(`S${name}\0`, 'utf8')));
    await backend.run(Buffer.concat([...closes, frame(CLIENT.sync)]));
  }

  function enqueue(session: Session): void {
    if (closing && owner !== session) return;
    if (owner !== session && !waiting.includes(session)) waiting.push(session);
    void pump();
  }

  const server = createServer((socket) => {
    if (closing) {
      socket.destroy();
      return;
    }
    const onClose = (session: Session): void => void sessions.delete(session);
    sessions.add(createSocketSession(socket, greeting, { onChange: enqueue, onClose }));
  });

  return {
    server,
    served: () => served,
    runOwn: (sql) =>
      new Promise((resolve) => {
        enqueue(createOwnSession(query(sql), () => resolve()));
      }),
    close: async () => {
      closing = true;
      server.close();
      const idle = new Promise<void>((resolve) => (drained = resolve));
      for (const session of sessions) session.end(fatalError('57P01', 'The store is shutting down.'));
      void pump();
      await idle;
    },
  };
}

function isSpent(session: Session): boolean {
  return session.closed ? session.statements.size === 0 : session.chunks.length === 0;
}

function query(sql: string): Buffer {
  return frame(CLIENT.query, Buffer.from(`${sql}\0`, 'utf8'));
}
