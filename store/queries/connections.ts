import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { Db } from '../database.ts';
import { affectsRow, readPage, searchText, withinScope, type Page, type PageRequest, type Scope } from '../scope.ts';
import { notifyChange, type ConnectionChanges } from './changes.ts';
import { releaseSlot } from './check-slots.ts';
import { createConnectionLookups, type ConnectionLookups, type ConnectionRow } from './connection-lookups.ts';
import { enforceConnectionLimit } from './organizations.ts';
import { withActiveProject } from './projects.ts';
import { enqueueWebhookEvents, prepareWebhookEvents } from './webhook-outbox.ts';

type NewConnection = Omit<ConnectionRow, 'updatedAt'>;

/** A new state to record. `createdAt` is when the state was reached. */
interface ConnectionChange {
  id: string;
  revision: number;
  document: ConnectionDocument;
  timeline?: TimelineEvent[];
  createdAt: Date;
}

/** A past state, for event streams. */
export interface ConnectionState {
  revision: number;
  document: ConnectionDocument;
  at: Date;
}

/** Connections: one row each, written only by the workflow's activities. */
export interface ConnectionQueries extends ConnectionLookups {
  /**
   * Race-safe: of concurrent inserts for one project, profile and domain one wins. Repeating an id is `inserted`. Throws
   * `not_found` if the project was archived or deleted meanwhile, `limit_reached` beyond the organization's limit.
   */
  insert(row: NewConnection): Promise<{ outcome: 'inserted' } | { outcome: 'exists'; existingId: string }>;
  /**
   * Applies a change with a higher revision than the stored one; false if it is not higher or the connection was removed.
   * Upserts timeline events by id and enqueues webhook events in the same transaction.
   */
  record(change: ConnectionChange): Promise<boolean>;
  /** States after `revision`, oldest first; at least the last {@link RETAINED_STATES} are available. */
  statesSince(id: string, revision: number): Promise<ConnectionState[]>;
  /** The row once it has reached `revision`; null after `timeoutMs` or once it was removed. */
  waitForRevision(id: string, revision: number, timeoutMs: number): Promise<ConnectionRow | null>;
  /** Removes the connection with its data key, submissions, handoffs, states and timeline. False if there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
}

/** The timeline of connections; `ConnectionQueries.record` writes its events. */
export interface TimelineQueries {
  /** Newest first. Empty if the connection is not in scope. */
  list(
    scope: Scope,
    connectionId: string,
    filter: PageRequest & { type?: TimelineEvent['type'] },
  ): Promise<Page<TimelineEvent>>;
}

/** How many past states of a connection are retained for streams: far more than one flow has. */
const RETAINED_STATES = 200;
/** States are trimmed once per this many revisions, so that most writes delete nothing. */
const TRIM_EVERY = 16;

/** Tables whose rows are removed with their connection. */
const OWNED_TABLES = [
  'connection_keys',
  'submissions',
  'handoffs',
  'typing_ledger',
  'timeline_events',
  'connection_states',
  'recordings',
] as const;

/** Queries of connections. */
export function createConnectionQueries(db: Db, changes: ConnectionChanges, clock: () => Date): ConnectionQueries {
  const lookups = createConnectionLookups(db);

  return {
    ...lookups,
    insert: async (row) => {
      // Two rounds suffice unless the conflicting connection is removed between the two statements.
      for (;;) {
        const inserted = await withActiveProject(db, row.projectId, async (trx) => {
          const created = await trx
            .insertInto('connections')
            .values({
              id: row.id,
              organization_id: row.organizationId,
              project_id: row.projectId,
              profile_name: row.profileName,
              domain: row.domain,
              search: searchText(row.domain, row.profileName),
              document: JSON.stringify(row.document),
              ...referencesOf(row.document),
              revision: row.revision,
              created_at: row.createdAt,
              updated_at: clock(),
              deleted_at: null,
            })
            .onConflict((conflict) => conflict.doNothing())
            .returning('id')
            .executeTakeFirst();
          if (created === undefined) return false;
          await enforceConnectionLimit(trx, row.organizationId);
          await appendState(trx, row);
          return true;
        });
        if (inserted) return { outcome: 'inserted' };
        const conflicting = await db
          .selectFrom('connections')
          .select('id')
          .where((eb) =>
            eb.or([
              eb('id', '=', row.id),
              eb.and([
                eb('project_id', '=', row.projectId),
                eb('profile_name', '=', row.profileName),
                eb('domain', '=', row.domain),
                eb('deleted_at', 'is', null),
              ]),
            ]),
          )
          .execute();
        if (conflicting.some(({ id }) => id === row.id)) return { outcome: 'inserted' };
        if (conflicting[0] !== undefined) return { outcome: 'exists', existingId: conflicting[0].id };
      }
    },
    record: async (change) => {
      const applied = await db.transaction().execute(async (trx) => {
        const events = await prepareWebhookEvents(trx, change.document, change.timeline ?? []);
        const isNewer = await affectsRow(
          trx
            .updateTable('connections')
            .set({
              document: JSON.stringify(change.document),
              ...referencesOf(change.document),
              revision: change.revision,
              updated_at: clock(),
            })
            .where('id', '=', change.id)
            .where('revision', '<', change.revision)
            .where('deleted_at', 'is', null),
        );
        if (!isNewer) return false;
        await appendState(trx, change);
        await upsertTimeline(trx, change.id, change.timeline ?? []);
        if (events !== null) await enqueueWebhookEvents(trx, events, clock());
        await notifyChange(trx, change.id, change.revision);
        return true;
      });
      if (applied) changes.announce(change.id, change.revision);
      return applied;
    },
    statesSince: async (id, revision) =>
      db
        .selectFrom('connection_states')
        .select(['revision', 'document', 'at'])
        .where('connection_id', '=', id)
        .where('revision', '>', revision)
        .orderBy('revision')
        .execute(),
    waitForRevision: async (id, revision, timeoutMs) => {
      const timeout = AbortSignal.timeout(timeoutMs);
      for await (const current of changes.watch(id, timeout)) {
        if (current >= revision) return lookups.byIdUnscoped(id);
      }
      return null;
    },
    remove: async (scope, id) => {
      const removed = await db.transaction().execute(async (trx) => {
        const isRemoved = await affectsRow(
          trx
            .updateTable('connections')
            .set({ deleted_at: clock(), updated_at: clock(), document: '{}' })
            .where('id', '=', id)
            .where('deleted_at', 'is', null)
            .where(withinScope(scope, 'connections')),
        );
        if (!isRemoved) return false;
        for (const table of OWNED_TABLES) await trx.deleteFrom(table).where('connection_id', '=', id).execute();
        await releaseSlot(trx, id);
        await notifyChange(trx, id, 'gone');
        return true;
      });
      if (removed) changes.announce(id, 'gone');
      return removed;
    },
  };
}

/** Queries of the timeline. */
export function createTimelineQueries(db: Db): TimelineQueries {
  return {
    list: (scope, connectionId, { type, ...page }) =>
      readPage(
        db
          .selectFrom('timeline_events')
          .innerJoin('connections', 'connections.id', 'timeline_events.connection_id')
          .select('timeline_events.event')
          .where('timeline_events.connection_id', '=', connectionId)
          .where(withinScope(scope, 'connections'))
          .where('connections.deleted_at', 'is', null)
          .$if(type !== undefined, (query) => query.where('timeline_events.type', '=', type ?? 'login'))
          .orderBy('timeline_events.at', 'desc')
          .orderBy('timeline_events.id', 'desc'),
        page,
        ({ event }) => event,
      ),
  };
}

/** Columns derived from the document, for lookups. */
function referencesOf({ settings: { credential, codes } }: ConnectionDocument) {
  return {
    credential_name: credential?.name ?? null,
    code_phone: codes?.phone_number ?? null,
    code_email: codes?.email_address ?? null,
  };
}

async function appendState(trx: Db, state: Pick<ConnectionChange, 'id' | 'revision' | 'document' | 'createdAt'>) {
  await trx
    .insertInto('connection_states')
    .values({
      connection_id: state.id,
      revision: state.revision,
      document: JSON.stringify(state.document),
      at: state.createdAt,
    })
    .execute();
  if (state.revision % TRIM_EVERY !== 0) return;
  await trx
    .deleteFrom('connection_states')
    .where('connection_id', '=', state.id)
    .where('revision', '<=', state.revision - RETAINED_STATES)
    .execute();
}

async function upsertTimeline(trx: Db, connectionId: string, events: TimelineEvent[]): Promise<void> {
  for (const event of events) {
    const values = { type: event.type, at: new Date(event.timestamp), event: JSON.stringify(event) };
    await trx
      .insertInto('timeline_events')
      .values({ id: event.id, connection_id: connectionId, ...values })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(values).where('timeline_events.connection_id', '=', connectionId),
      )
      .execute();
  }
}
