import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
import { newId } from '../../contract/ids.ts';
import type { WebhookEventType, WebhookPayload } from '../../contract/webhooks.ts';
import type { Db } from '../database.ts';
import { deriveWebhookEvents, type RecordedChange } from '../webhook-events.ts';

/** A recorded change, and the webhooks to notify of it. */
interface PreparedEvents {
  webhooks: { id: string; events: WebhookEventType[] }[];
  change: RecordedChange;
}

/**
 * Reads the stored state before a change is written, in the transaction that writes it. Null if the project has no webhooks
 * or the change is not newer than the stored state.
 */
export async function prepareWebhookEvents(
  trx: Db,
  after: ConnectionDocument,
  timeline: readonly TimelineEvent[],
): Promise<PreparedEvents | null> {
  const webhooks = await trx
    .selectFrom('webhooks')
    .select(['id', 'events'])
    .where('project_id', '=', after.project_id)
    .execute();
  if (webhooks.length === 0) return null;
  const row = await trx
    .selectFrom('connections')
    .select('document')
    .where('id', '=', after.id)
    .where('revision', '<', after.revision)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return null;
  const events = () => trx.selectFrom('timeline_events').select('event').where('connection_id', '=', after.id);
  const ids = timeline.map(({ id }) => id);
  const stored = ids.length === 0 ? [] : await events().where('id', 'in', ids).execute();
  const hasCheck = timeline.some(({ type }) => type === 'health_check');
  const lastCheck = hasCheck
    ? await events().where('type', '=', 'health_check').orderBy('at', 'desc').limit(1).executeTakeFirst()
    : undefined;
  return {
    webhooks,
    change: {
      before: row.document,
      after,
      timeline,
      stored: stored.map(({ event }) => event),
      lastCheck: lastCheck?.event ?? null,
    },
  };
}

/** Enqueues deliveries in the transaction that wrote the change, so that neither exists without the other. */
export async function enqueueWebhookEvents(trx: Db, { webhooks, change }: PreparedEvents, now: Date): Promise<void> {
  for (const { type, data } of deriveWebhookEvents(change)) {
    const message = { messageId: newId('msg'), payload: { type, timestamp: now.toISOString(), data } };
    for (const { id, events } of webhooks)
      if (events.includes(type))
        await enqueueDelivery(trx, { webhookId: id, lane: data.connection_id, ...message }, now);
  }
}

/** Enqueues one delivery, due at once, and returns its id. */
export async function enqueueDelivery(
  trx: Db,
  delivery: { webhookId: string; lane: string; messageId: string; payload: WebhookPayload },
  now: Date,
): Promise<string> {
  const id = newId('dlv');
  await trx
    .insertInto('webhook_deliveries')
    .values({
      id,
      webhook_id: delivery.webhookId,
      lane: delivery.lane,
      message_id: delivery.messageId,
      event_type: delivery.payload.type,
      payload: JSON.stringify(delivery.payload),
      status: 'pending',
      attempts: 0,
      dispatch_at: now,
      created_at: now,
    })
    .execute();
  return id;
}
