import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { Db } from '../database.ts';
import { searchText, withinScope, type Scope } from '../scope.ts';
import { notifyChange, type ConnectionChanges } from './changes.ts';
import { freeSlot } from './check-slots.ts';
import { createConnectionLookups, type ConnectionLookups, type ConnectionRow } from './connection-lookups.ts';
import { enforceConnectionLimit } from './organizations.ts';
import { withActiveProject } from './projects.ts';
import { appendEvents, prepareEvents } from './webhook-outbox.ts';

/** What {@link ConnectionQueries.insert} needs. */
export type NewConnection = Omit<ConnectionRow, 'updatedAt'>;

/** What {@link ConnectionQueries.record} writes. `createdAt` is when the state came to be. */
export interface ConnectionChange {
  id: string;
  revision: number;
  document: ConnectionDocument;
  timeline?: TimelineEvent[];
  createdAt: Date;
}

/** One past state, for streams. */
export interface ConnectionState {
  revision: number;
  document: ConnectionDocument;
  at: Date;
}

/** Connections: one row each, written by the workflow's activities alone, read by everyone. */
export interface ConnectionQueries extends ConnectionLookups {
  /**
   * Race-safe: of many inserts for one project, profile and domain one wins. The same id again is `inserted`. Throws `not_found`
   * for a project that was archived or deleted meanwhile, `limit_reached` for one more than the organization may have.
   */
  insert(row: NewConnection): Promise<{ outcome: 'inserted' } | { outcome: 'exists'; existingId: string }>;
  /**
   * Applies a change whose revision is larger than the stored one; false when it is not, or the connection is gone. Timeline
   * events are written by id, and what webhooks are told of, in the same transaction.
   */
  record(change: ConnectionChange): Promise<boolean>;
  /** States after `revision`, oldest first; at least the last {@link KEPT_STATES} are there. */
  statesSince(id: string, revision: number): Promise<ConnectionState[]>;
  /** The row once its revision has reached `revision`; null after `timeoutMs` or when it is gone. */
  waitForRevision(id: string, revision: number, timeoutMs: number): Promise<ConnectionRow | null>;
  /** Removes the connection with its data key, submissions, handoffs, states and timeline. False when there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
}

/** How many past states a connection keeps for streams: far more than one flow has. */
export const KEPT_STATES = 200;
/** States are trimmed once in so many revisions, so that most writes delete nothing. */
const TRIM_EVERY = 16;

/** Queries of connections. */
export function createConnectionQueries(db: Db, changes: ConnectionChanges, clock: () => Date): ConnectionQueries {
  const lookups = createConnectionLookups(db);

  return {
    ...lookups,
    insert: async (row) => {
      // Two rounds suffice unless the connection in the way is removed between the two statements.
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
        const inTheWay = await db
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
        if (inTheWay.some(({ id }) => id === row.id)) return { outcome: 'inserted' };
        if (inTheWay[0] !== undefined) return { outcome: 'exists', existingId: inTheWay[0].id };
      }
    },
    record: async (change) => {
      const applied = await db.transaction().execute(async (trx) => {
        const events = await prepareEvents(trx, change.document, change.timeline ?? []);
        const { numUpdatedRows } = await trx
          .updateTable('connections')
          .set({
            document: JSON.stringify(change.document),
            ...referencesOf(change.document),
            revision: change.revision,
            updated_at: clock(),
          })
          .where('id', '=', change.id)
          .where('revision', '<', change.revision)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await appendState(trx, change);
        await upsertEvents(trx, change.id, change.timeline ?? []);
        if (events !== null) await appendEvents(trx, events, clock());
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
        const { numUpdatedRows } = await trx
          .updateTable('connections')
          .set({ deleted_at: clock(), updated_at: clock(), document: '{}' })
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .where(withinScope(scope, 'connections'))
          .executeTakeFirst();
        if (numUpdatedRows === 0n) return false;
        await trx.deleteFrom('connection_keys').where('connection_id', '=', id).execute();
        await trx.deleteFrom('submissions').where('connection_id', '=', id).execute();
        await trx.deleteFrom('handoffs').where('connection_id', '=', id).execute();
        await trx.deleteFrom('typing_ledger').where('connection_id', '=', id).execute();
        await trx.deleteFrom('timeline_events').where('connection_id', '=', id).execute();
        await trx.deleteFrom('connection_states').where('connection_id', '=', id).execute();
        await trx.deleteFrom('recordings').where('connection_id', '=', id).execute();
        await freeSlot(trx, id);
        await notifyChange(trx, id, 'gone');
        return true;
      });
      if (removed) changes.announce(id, 'gone');
      return removed;
    },
  };
}

/** What connections are looked up by, beside their place. */
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
    .where('revision', '<=', state.revision - KEPT_STATES)
    .execute();
}

async function upsertEvents(trx: Db, connectionId: string, events: TimelineEvent[]): Promise<void> {
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
