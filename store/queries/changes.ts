import { sql } from 'kysely';
import pg from 'pg';
import { clientConfig, type Db, type StoreConnection } from '../database.ts';

/** Change notifications, across processes. */
export interface ConnectionChanges {
  /**
   * Yields the current revision of a connection, then later ones. Revisions in quick succession may be coalesced into the
   * last one; `connections.statesSince` returns those between. Ends when `signal` aborts, when the connection is removed or
   * does not exist, or when the store closes.
   */
  watch(connectionId: string, signal: AbortSignal): AsyncIterable<number>;
  /** Immediately notifies the watchers of this process of its own write. */
  announce(connectionId: string, revision: number | 'gone'): void;
  close(): Promise<void>;
}

const CONNECTIONS_CHANNEL = 'holdfast_connection_changes';
/** The channel for changes of deployments and invocations. */
export const APPS_CHANNEL = 'holdfast_app_changes';
/** Poll interval while not listening, in milliseconds; one query for all watchers. */
const POLL_MS = 50;
/** Poll interval while listening: a broken connection can lose notifications. */
const SAFETY_POLL_MS = 2000;
/** Delay before listening again after the connection broke, in milliseconds. */
const LISTEN_RETRY_MS = 1000;

/** Notifies other processes, in the transaction that writes. Costs nothing without listeners. */
export async function notifyChange(
  trx: Db,
  id: string,
  revision: number | 'gone',
  channel: Feed['channel'] = CONNECTIONS_CHANNEL,
): Promise<void> {
  await sql`select pg_notify(${channel}, ${`${id} ${revision}`})`.execute(trx);
}

/** A source of changes: its channel, and a query for current revisions. */
interface Feed {
  channel: typeof CONNECTIONS_CHANNEL | typeof APPS_CHANNEL;
  read(ids: string[]): Promise<{ id: string; revision: number }[]>;
}

/** Changes of connections. */
export function createConnectionChanges(db: Db, connection: StoreConnection): ConnectionChanges {
  return createChanges(connection, {
    channel: CONNECTIONS_CHANNEL,
    read: (ids) =>
      db
        .selectFrom('connections')
        .select(['id', 'revision'])
        .where('deleted_at', 'is', null)
        .where('id', '=', sql<string>`any(${ids})`)
        .execute(),
  });
}

/** Changes of deployments and invocations; the revision is the number of their events. */
export function createAppChanges(db: Db, connection: StoreConnection): ConnectionChanges {
  const read = (table: 'deployments' | 'invocations', ids: string[]) =>
    db
      .selectFrom(table)
      .select(['id', 'event_count as revision'])
      .where('id', '=', sql<string>`any(${ids})`)
      .execute();
  return createChanges(connection, {
    channel: APPS_CHANNEL,
    read: async (ids) => [...(await read('deployments', ids)), ...(await read('invocations', ids))],
  });
}

/** Holds only the newest revision, so that a slow reader costs no memory. */
interface Watcher {
  newest: number;
  gone: boolean;
  wake: () => void;
}

/** The hub of this process: one listening connection for any number of watchers. */
function createChanges(connection: StoreConnection, feed: Feed): ConnectionChanges {
  const watchers = new Map<string, Set<Watcher>>();
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let polling = false;
  let pollRequests = 0;
  let listener: pg.Client | null = null;
  let listening = false;
  let nextListenAt = 0;

  function notifyWatchers(connectionId: string, revision: number | 'gone'): void {
    for (const watcher of watchers.get(connectionId) ?? []) {
      if (revision === 'gone') watcher.gone = true;
      else if (revision > watcher.newest) watcher.newest = revision;
      else continue;
      watcher.wake();
    }
  }

  function schedule(delay: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = closed || watchers.size === 0 ? null : setTimeout(() => void poll(), delay);
  }

  async function poll(): Promise<void> {
    pollRequests += 1;
    if (polling) return;
    polling = true;
    let handled: number;
    try {
      do {
        handled = pollRequests;
        const watched = [...watchers.keys()];
        const rows = await feed.read(watched);
        const found = new Map(rows.map((row) => [row.id, row.revision]));
        for (const id of watched) notifyWatchers(id, found.get(id) ?? 'gone');
      } while (handled !== pollRequests && !closed);
    } catch {
      // The database is unreachable; the next poll retries. Watchers lose nothing, because they compare revisions.
    } finally {
      polling = false;
      if (!listening) void listen();
      schedule(listening ? SAFETY_POLL_MS : POLL_MS);
    }
  }

  async function listen(): Promise<void> {
    if (listener !== null || closed || Date.now() < nextListenAt) return;
    const client = new pg.Client(clientConfig(connection));
    listener = client;
    const drop = (): void => {
      if (listener !== client) return;
      listener = null;
      listening = false;
      nextListenAt = Date.now() + LISTEN_RETRY_MS;
      client.end().catch(() => undefined);
      schedule(POLL_MS);
    };
    client.on('error', drop);
    client.on('end', drop);
    client.on('notification', ({ payload = '' }) => {
      const [id = '', revision = ''] = payload.split(' ');
      notifyWatchers(id, revision === 'gone' ? 'gone' : Number(revision));
    });
    try {
      await client.connect();
      await client.query(`listen ${feed.channel}`);
      listening = listener === client;
      // Catches up with writes before the listener was active.
      schedule(0);
    } catch {
      drop();
    }
  }

  function add(connectionId: string): Watcher {
    const watcher: Watcher = { newest: -1, gone: false, wake: () => undefined };
    const peers = watchers.get(connectionId) ?? new Set();
    watchers.set(connectionId, peers.add(watcher));
    void poll();
    return watcher;
  }

  function remove(connectionId: string, watcher: Watcher): void {
    const peers = watchers.get(connectionId);
    peers?.delete(watcher);
    if (peers?.size === 0) watchers.delete(connectionId);
  }

  return {
    announce: notifyWatchers,
    watch: async function* (connectionId, signal) {
      const watcher = add(connectionId);
      const onAbort = (): void => watcher.wake();
      signal.addEventListener('abort', onAbort);
      let seen = -1;
      try {
        while (!signal.aborted && !closed) {
          if (watcher.newest > seen) {
            seen = watcher.newest;
            yield seen;
          } else if (watcher.gone) return;
          else await new Promise<void>((resolve) => (watcher.wake = resolve));
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
        remove(connectionId, watcher);
      }
    },
    close: async () => {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      for (const peers of watchers.values()) for (const watcher of peers) watcher.wake();
      const client = listener;
      listener = null;
      await client?.end().catch(() => undefined);
    },
  };
}
