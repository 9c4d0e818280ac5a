import { sql, type Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import { WEBHOOK_RETRY_DELAYS_S } from '../../contract/limits.ts';
import type { WebhookAttempt, WebhookDelivery } from '../../contract/webhooks.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { readPage, withinScope, type Page, type PageRequest, type Scope } from '../scope.ts';
import type { Vault } from '../vault/vault.ts';
import { enqueueDelivery } from './webhook-outbox.ts';
import { openWebhookSecret } from './webhooks.ts';

/** Deliveries to one webhook that must stay in order: the events of one connection, or the test events. */
export interface WebhookLane {
  webhookId: string;
  lane: string;
}

/** The next delivery of a lane, with everything needed to send it. Only for the delivering activity. */
export interface NextDelivery {
  id: string;
  url: string;
  /** Signing secrets, the current one first. */
  secrets: string[];
  messageId: string;
  /** The body, byte for byte the same in every attempt. */
  body: string;
  /** Milliseconds until the next attempt; 0 if it is due. */
  dueInMs: number;
}

/** What the lane does after an attempt: the next delivery, or a retry after a delay. */
type LaneStep = { next: 'more' } | { next: 'wait'; afterMs: number };

/** Deliveries to webhooks. `connections.record` enqueues them with the state they report. */
export interface WebhookDeliveryQueries {
  /** Newest first. Empty if the webhook is not in scope. */
  list(
    scope: Scope,
    webhookId: string,
    filter: PageRequest & { status?: WebhookDelivery['status'] },
  ): Promise<Page<WebhookDelivery>>;
  /** Enqueues a test event. Null if the webhook is not in scope. */
  addTest(scope: Scope, webhookId: string): Promise<WebhookDelivery | null>;
  /** Restarts a delivery under the same message id. Null if there is none. */
  redeliver(scope: Scope, webhookId: string, id: string): Promise<WebhookDelivery | null>;
  /** Claims lanes of active webhooks with due deliveries and no running workflow. Concurrent callers get different lanes. */
  claimDueLanes(limit: number): Promise<WebhookLane[]>;
  /** Records that a lane's workflow runs. The lane is checked again after an hour, in case the workflow was terminated. */
  markDispatched(lane: WebhookLane): Promise<void>;
  /** Null if nothing is pending, or the webhook is paused or removed. */
  next(lane: WebhookLane): Promise<NextDelivery | null>;
  /** Records the result of an attempt. */
  settle(deliveryId: string, attempt: WebhookAttempt): Promise<LaneStep>;
}

/** How long a claimed lane waits for its workflow to start before another process may claim it, in milliseconds. */
const CLAIM_TIMEOUT_MS = 30_000;
/** How long past its next attempt a workflow may report nothing before it is signaled or restarted, in milliseconds. */
const RECHECK_AFTER_MS = 60 * 60_000;

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
      const id = await enqueueDelivery(db, { webhookId, lane: webhookId, messageId: newId('msg'), payload }, now);
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
        .set({ dispatch_at: later(CLAIM_TIMEOUT_MS) })
        .where('seq', 'in', due)
        .returning(['webhook_id', 'lane'])
        .execute();
      const lanes = new Map(rows.map((row) => [`${row.webhook_id} ${row.lane}`, row]));
      return [...lanes.values()].map(({ webhook_id, lane }) => ({ webhookId: webhook_id, lane }));
    },
    markDispatched: async ({ webhookId, lane }) => {
      const dispatched = later(RECHECK_AFTER_MS);
      // Deliveries enqueued meanwhile stay due, so that they are dispatched.
      await db
        .updateTable('webhook_deliveries')
        .set({ dispatch_at: dispatched })
        .where('webhook_id', '=', webhookId)
        .where('lane', '=', lane)
        .where('status', '=', 'pending')
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
        // The stored text: the signature must not depend on how JSON is serialized.
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
            dispatch_at: new Date((nextAttemptAt ?? now).getTime() + RECHECK_AFTER_MS),
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
        // An endpoint that accepted other events meanwhile works; it rejects only this one.
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
