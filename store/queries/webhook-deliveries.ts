import { sql, type Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import { WEBHOOK_RETRY_DELAYS_S } from '../../contract/limits.ts';
import type { WebhookAttempt, WebhookDelivery } from '../../contract/webhooks.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { readPage, withinScope, type Page, type PageRequest, type Scope } from '../scope.ts';
import type { Vault } from '../vault/vault.ts';
import { appendDelivery } from './webhook-outbox.ts';
import { openWebhookSecret } from './webhooks.ts';

/** What is delivered in order: the events of one connection (or the tests of the webhook) to one webhook. */
export interface WebhookLane {
  webhookId: string;
  lane: string;
}

/** The delivery that is next in its lane, with what it takes to send it. For the delivering activity alone. */
export interface NextDelivery {
  id: string;
  url: string;
  /** Signing secrets, the present one first. */
  secrets: string[];
  messageId: string;
  /** The body, byte for byte the same in each attempt. */
  body: string;
  /** How long its next attempt is away, in milliseconds; 0 when it is due. */
  dueInMs: number;
}

/** What follows an attempt, for the lane: the next delivery, or the same again after a while. */
export type LaneStep = { next: 'more' } | { next: 'wait'; afterMs: number };

/** Deliveries to webhooks. They are written by `connections.record` with the state that they tell of. */
export interface WebhookDeliveryQueries {
  /** Newest first. Empty when the webhook is not in scope. */
  list(
    scope: Scope,
    webhookId: string,
    filter: PageRequest & { status?: WebhookDelivery['status'] },
  ): Promise<Page<WebhookDelivery>>;
  /** Writes a test event. Null when the webhook is not in scope. */
  addTest(scope: Scope, webhookId: string): Promise<WebhookDelivery | null>;
  /** Has one delivered (again) from the beginning, under the same message id. Null when there is none. */
  redeliver(scope: Scope, webhookId: string, id: string): Promise<WebhookDelivery | null>;
  /** Lanes of active webhooks with something to deliver that no workflow has in hand. Each answer is given to one caller. */
  claimDueLanes(limit: number): Promise<WebhookLane[]>;
  /** Notes that a lane's workflow runs: it is looked at again after an hour, in case it was ended from outside. */
  markDispatched(lane: WebhookLane): Promise<void>;
  /** Null when nothing waits, or the webhook is paused or gone. */
  next(lane: WebhookLane): Promise<NextDelivery | null>;
  /** Writes down what an attempt came to. */
  settle(deliveryId: string, attempt: WebhookAttempt): Promise<LaneStep>;
}

/** How long a lane that was claimed waits for its workflow to start before another process tries, in milliseconds. */
const CLAIM_MS = 30_000;
/** How long a workflow may be silent beyond what it waits for, in milliseconds, before it is woken up or started again. */
const SILENCE_MS = 60 * 60_000;

/** Queries of deliveries. */
export function createWebhookDeliveryQueries(db: Db, vault: Vault, clock: () => Date): WebhookDeliveryQueries {
  const later = (ms: number): Date => new Date(clock().getTime() + ms);
  const ofWebhook = (scope: Scope, webhookId: string) =>
    db
      .selectFrom('webhook_deliveries')
      .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
      .selectAll('webhook_deliveries')
      .where('webhook_id', '=', webhookId)
      .where(withinScope(scope, 'webhooks'));
  const pending = ({ webhookId, lane }: WebhookLane) =>
    db
      .updateTable('webhook_deliveries')
      .where('webhook_id', '=', webhookId)
      .where('lane', '=', lane)
      .where('status', '=', 'pending');

  return {
    list: (scope, webhookId, { status, ...page }) =>
      readPage(
        ofWebhook(scope, webhookId)
          .$if(status !== undefined, (q) => q.where('webhook_deliveries.status', '=', status ?? 'pending'))
          .orderBy('seq', 'desc'),
        page,
        present,
      ),
    addTest: async (scope, webhookId) => {
      const known = await db
        .selectFrom('webhooks')
        .select('id')
        .where(withinScope(scope, 'webhooks'))
        .where('id', '=', webhookId)
        .executeTakeFirst();
      if (known === undefined) return null;
      const now = clock();
      const payload = {
        type: 'webhook.test' as const,
        timestamp: now.toISOString(),
        data: { webhook_id: webhookId },
      };
      const id = await appendDelivery(db, { webhookId, lane: webhookId, messageId: newId('msg'), payload }, now);
      return present(
        await ofWebhook(scope, webhookId).where('webhook_deliveries.id', '=', id).executeTakeFirstOrThrow(),
      );
    },
    redeliver: async (scope, webhookId, id) => {
      const found = await ofWebhook(scope, webhookId).where('webhook_deliveries.id', '=', id).executeTakeFirst();
      if (found === undefined) return null;
      const row = await db
        .updateTable('webhook_deliveries')
        .set({ status: 'pending', attempts: 0, first_attempt_at: null, next_attempt_at: null, dispatch_at: clock() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    claimDueLanes: async (limit) => {
      const due = db
        .selectFrom('webhook_deliveries')
        .innerJoin('webhooks', 'webhooks.id', 'webhook_deliveries.webhook_id')
        .select('webhook_deliveries.seq')
        .where('webhook_deliveries.status', '=', 'pending')
        .where('webhooks.status', '=', 'active')
        .where('dispatch_at', '<=', clock())
        .orderBy('dispatch_at')
        .limit(limit)
        .forUpdate('webhook_deliveries')
        .skipLocked();
      const rows = await db
        .updateTable('webhook_deliveries')
        .set({ dispatch_at: later(CLAIM_MS) })
        .where('seq', 'in', due)
        .returning(['webhook_id', 'lane'])
        .execute();
      const lanes = new Map(rows.map((row) => [`${row.webhook_id} ${row.lane}`, row]));
      return [...lanes.values()].map(({ webhook_id, lane }) => ({ webhookId: webhook_id, lane }));
    },
    markDispatched: async (lane) => {
      const dispatched = later(SILENCE_MS);
      // What was written meanwhile is due still: it is told by itself.
      await pending(lane)
        .set({ dispatch_at: dispatched })
        .where('dispatch_at', '>', clock())
        .where('dispatch_at', '<', dispatched)
        .execute();
    },
    next: async ({ webhookId, lane }) => {
      const webhook = await db
        .selectFrom('webhooks')
        .selectAll()
        .where('id', '=', webhookId)
        .where('status', '=', 'active')
        .executeTakeFirst();
      if (webhook === undefined) return null;
      const row = await db
        .selectFrom('webhook_deliveries')
        // As it was written: what is signed must not depend on how JSON is printed.
        .select(['id', 'message_id', 'next_attempt_at', sql<string>`payload::text`.as('body')])
        .where('webhook_id', '=', webhookId)
        .where('lane', '=', lane)
        .where('status', '=', 'pending')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst();
      if (row === undefined) return null;
      const now = clock();
      const secrets = [
        await openWebhookSecret(db, vault, webhook, 'sealed_secret'),
        webhook.former_until !== null && webhook.former_until > now
          ? await openWebhookSecret(db, vault, webhook, 'sealed_former_secret')
          : null,
      ].filter((secret) => secret !== null);
      return {
        id: row.id,
        url: webhook.url,
        secrets,
        messageId: row.message_id,
        body: row.body,
        dueInMs: Math.max(0, (row.next_attempt_at?.getTime() ?? 0) - now.getTime()),
      };
    },
    settle: (deliveryId, { statusCode, error }) =>
      db.transaction().execute(async (trx) => {
        const now = clock();
        const row = await trx
          .selectFrom('webhook_deliveries')
          .selectAll()
          .where('id', '=', deliveryId)
          .forUpdate()
          .executeTakeFirst();
        if (row === undefined) return { next: 'more' };
        const attempts = row.attempts + 1;
        const firstAttemptAt = row.first_attempt_at ?? now;
        const delayS = error === null ? undefined : WEBHOOK_RETRY_DELAYS_S[attempts - 1];
        const isGone = statusCode === 410;
        const retries = delayS !== undefined && !isGone;
        const nextAttemptAt = retries ? new Date(now.getTime() + delayS * 1000) : null;
        await trx
          .updateTable('webhook_deliveries')
          .set({
            status: error === null ? 'delivered' : retries ? 'pending' : 'failed',
            attempts,
            first_attempt_at: firstAttemptAt,
            last_attempt_at: now,
            next_attempt_at: nextAttemptAt,
            dispatch_at: new Date((nextAttemptAt ?? now).getTime() + SILENCE_MS),
            last_status_code: statusCode,
            last_error: error,
          })
          .where('id', '=', deliveryId)
          .execute();
        const webhook = trx.updateTable('webhooks').where('id', '=', row.webhook_id);
        if (error === null) {
          await webhook.set({ failing_since: null, last_success_at: now }).execute();
          return { next: 'more' };
        }
        await webhook.set({ failing_since: sql<Date>`coalesce(failing_since, ${now})` }).execute();
        if (retries) return { next: 'wait', afterMs: delayS * 1000 };
        // An endpoint that took other events meanwhile is well: it does not want this one.
        await webhook
          .where('status', '=', 'active')
          .where((eb) =>
            isGone
              ? eb.lit(true)
              : eb.or([eb('last_success_at', 'is', null), eb('last_success_at', '<', firstAttemptAt)]),
          )
          .set({ status: 'paused', paused_reason: isGone ? 'gone' : 'failing', updated_at: now })
          .execute();
        return { next: 'more' };
      }),
  };
}

function present(row: Selectable<Database['webhook_deliveries']>): WebhookDelivery {
  return {
    id: row.id,
    webhook_id: row.webhook_id,
    message_id: row.message_id,
    event_type: row.event_type,
    status: row.status,
    attempts: row.attempts,
    payload: row.payload,
    ...(row.last_status_code === null ? {} : { last_status_code: row.last_status_code }),
    ...(row.last_error === null ? {} : { last_error: row.last_error }),
    created_at: row.created_at.toISOString(),
    ...(row.last_attempt_at === null ? {} : { last_attempt_at: row.last_attempt_at.toISOString() }),
    ...(row.next_attempt_at === null ? {} : { next_attempt_at: row.next_attempt_at.toISOString() }),
  };
}
