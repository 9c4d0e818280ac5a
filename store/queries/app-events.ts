import { z } from 'zod';
import { AppAction } from '../../contract/apps.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Vault } from '../vault/vault.ts';
import { APPS_CHANNEL, notifyChange } from './changes.ts';

/** An event of a deployment or an invocation. It is sealed, because a program may log anything. */
const AppEventBody = z.discriminatedUnion('event', [
  z.object({ event: z.literal('log'), message: z.string() }),
  /** `reason` and `output` are set only when it has ended. */
  z.object({
    event: z.literal('state'),
    status: z.string(),
    reason: z.string().optional(),
    output: z.string().optional(),
  }),
  z.object({
    event: z.literal('app_version_summary'),
    version: z.object({ id: z.string(), app_name: z.string(), version: z.string(), actions: z.array(AppAction) }),
  }),
]);
export type AppEventBody = z.infer<typeof AppEventBody>;

/** A stored event. `number` counts from 1; a stream resumes after it. */
export interface AppEvent {
  number: number;
  at: Date;
  body: AppEventBody;
}

/** The row that events belong to. */
export interface AppSubject {
  table: 'deployments' | 'invocations';
  id: string;
}

/** Events of deployments and invocations, numbered per subject. */
export interface AppEventQueries {
  /** Appends events; does nothing if the subject does not exist. `at` defaults to now. */
  append(subject: AppSubject, events: { body: AppEventBody; at?: Date }[]): Promise<void>;
  /** The status of a subject; null if it does not exist. */
  statusOf(subject: AppSubject): Promise<string | null>;
  /** Events after `number` and not older than `since`, oldest first. */
  after(subject: AppSubject, number: number, limit: number, since?: Date): Promise<AppEvent[]>;
}

/** Appends events in the transaction that changes their subject. Locks its row, so that numbers follow the commit order. */
export async function appendAppEvents(
  trx: Db,
  vault: Vault,
  now: Date,
  { table, id }: AppSubject,
  events: { body: AppEventBody; at?: Date }[],
): Promise<void> {
  const subject = await trx
    .updateTable(table)
    .set((eb) => ({ event_count: eb('event_count', '+', events.length) }))
    .where('id', '=', id)
    .returning(['organization_id', 'event_count'])
    .executeTakeFirst();
  if (subject === undefined || events.length === 0) return;
  const first = subject.event_count - events.length + 1;
  const rows = await Promise.all(
    events.map(async ({ body, at = now }, index) => {
      const eventId = newId('evt');
      const place = { table: 'app_events', column: 'sealed_body', rowId: eventId };
      return {
        id: eventId,
        organization_id: subject.organization_id,
        subject_id: id,
        number: first + index,
        at,
        sealed_body: await vault.sealJson(trx, subject.organization_id, place, body),
      };
    }),
  );
  await trx.insertInto('app_events').values(rows).execute();
  await notifyChange(trx, id, subject.event_count, APPS_CHANNEL);
}

export function createAppEventQueries(db: Db, vault: Vault, clock: () => Date): AppEventQueries {
  return {
    append: (subject, events) =>
      db.transaction().execute((trx) => appendAppEvents(trx, vault, clock(), subject, events)),
    statusOf: async ({ table, id }) => {
      const row = await db.selectFrom(table).select('status').where('id', '=', id).executeTakeFirst();
      return row?.status ?? null;
    },
    after: async ({ id }, number, limit, since) => {
      const rows = await db
        .selectFrom('app_events')
        .selectAll()
        .where('subject_id', '=', id)
        .where('number', '>', number)
        .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date(0)))
        .orderBy('number')
        .limit(limit)
        .execute();
      return Promise.all(
        rows.map(async (row) => {
          const place = { table: 'app_events', column: 'sealed_body', rowId: row.id };
          const body = await vault.openJson(db, row.organization_id, place, row.sealed_body);
          return { number: row.number, at: row.at, body: AppEventBody.parse(body) };
        }),
      );
    },
  };
}
