import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import { FORMER_SECRET_SIGNS_MS } from '../../contract/limits.ts';
import type { Webhook, WebhookEventType } from '../../contract/webhooks.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { isUniqueViolation, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { readPage, withinScope, type Page, type PageRequest, type ProjectScope, type Scope } from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';
import { whileActive } from './projects.ts';

/** A webhook without its secret. */
export interface WebhookRecord {
  id: string;
  url: string;
  description: string;
  events: WebhookEventType[];
  status: Webhook['status'];
  pausedReason: NonNullable<Webhook['paused_reason']> | null;
  failingSince: Date | null;
  lastSuccessAt: Date | null;
  formerSecretUntil: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Changes of a webhook; what is left out stays. */
export interface WebhookPatch {
  url?: string;
  description?: string;
  events?: WebhookEventType[];
  status?: Webhook['status'];
}

/** Webhooks of a project: where its events are posted to. Secrets are sealed, and shown when they are made alone. */
export interface WebhookQueries {
  /** Throws `already_exists` when the project has a webhook of that URL. */
  create(
    scope: ProjectScope,
    input: { url: string; description: string; events: WebhookEventType[] },
  ): Promise<WebhookRecord & { secret: string }>;
  find(scope: Scope, id: string): Promise<WebhookRecord | null>;
  /** Newest first. */
  list(scope: Scope, page: PageRequest): Promise<Page<WebhookRecord>>;
  /** Null when there is none; throws `already_exists` when a new URL is taken. One that becomes active delivers at once what has waited. */
  patch(scope: Scope, id: string, patch: WebhookPatch): Promise<WebhookRecord | null>;
  /** A new secret; the former one signs beside it for {@link FORMER_SECRET_SIGNS_MS}. Null when there is none. */
  rotateSecret(scope: Scope, id: string): Promise<(WebhookRecord & { secret: string }) | null>;
  /** Removes it with everything that was to be delivered. False when there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
}

type Row = Selectable<Database['webhooks']>;
type SecretColumn = 'sealed_secret' | 'sealed_former_secret';

/** Where a webhook's secrets live. */
export function webhookSecretPlace(id: string, column: SecretColumn): SealedPlace {
  return { table: 'webhooks', column, rowId: id };
}

/** Opens a secret of a webhook, for signing. */
export async function openWebhookSecret(db: Db, vault: Vault, row: Row, column: SecretColumn): Promise<string | null> {
  const sealed = row[column];
  if (sealed === null) return null;
  const opened = await vault.openJson(db, row.organization_id, webhookSecretPlace(row.id, column), sealed);
  return typeof opened === 'string' ? opened : null;
}

/** Queries of webhooks. */
export function createWebhookQueries(db: Db, vault: Vault, clock: () => Date): WebhookQueries {
  const inScope = (scope: Scope) => db.selectFrom('webhooks').selectAll().where(withinScope(scope, 'webhooks'));
  const seal = (trx: Db, organizationId: string, id: string, secret: string, column: SecretColumn) =>
    vault.sealJson(trx, organizationId, webhookSecretPlace(id, column), secret);

  return {
    create: async (scope, input) => {
      const id = newId('whk');
      const secret = newSecret();
      const row = await urlTaken(
        whileActive(db, scope.projectId, async (trx) =>
          trx
            .insertInto('webhooks')
            .values({
              id,
              organization_id: scope.organizationId,
              project_id: scope.projectId,
              ...input,
              sealed_secret: await seal(trx, scope.organizationId, id, secret, 'sealed_secret'),
              status: 'active',
              created_at: clock(),
              updated_at: clock(),
            })
            .returningAll()
            .executeTakeFirstOrThrow(),
        ),
      );
      return { ...present(row), secret };
    },
    find: async (scope, id) => {
      const row = await inScope(scope).where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    list: (scope, page) => readPage(inScope(scope).orderBy('created_at', 'desc').orderBy('id', 'desc'), page, present),
    patch: (scope, id, { status, ...patch }) =>
      urlTaken(
        db.transaction().execute(async (trx) => {
          const now = clock();
          const row = await trx
            .updateTable('webhooks')
            .where(withinScope(scope, 'webhooks'))
            .where('id', '=', id)
            .set({
              ...patch,
              ...(status === undefined ? {} : { status, paused_reason: status === 'paused' ? 'requested' : null }),
              ...(status === 'active' ? { failing_since: null } : {}),
              updated_at: now,
            })
            .returningAll()
            .executeTakeFirst();
          if (row === undefined) return null;
          if (status === 'active')
            await trx
              .updateTable('webhook_deliveries')
              .set({ dispatch_at: now, next_attempt_at: now })
              .where('webhook_id', '=', id)
              .where('status', '=', 'pending')
              .execute();
          return present(row);
        }),
      ),
    rotateSecret: (scope, id) =>
      db.transaction().execute(async (trx) => {
        const current = await trx
          .selectFrom('webhooks')
          .selectAll()
          .where(withinScope(scope, 'webhooks'))
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (current === undefined) return null;
        const former = await openWebhookSecret(trx, vault, current, 'sealed_secret');
        const secret = newSecret();
        const { organization_id: organizationId } = current;
        const row = await trx
          .updateTable('webhooks')
          .where('id', '=', id)
          .set({
            sealed_secret: await seal(trx, organizationId, id, secret, 'sealed_secret'),
            sealed_former_secret:
              former === null ? null : await seal(trx, organizationId, id, former, 'sealed_former_secret'),
            former_until: new Date(clock().getTime() + FORMER_SECRET_SIGNS_MS),
            updated_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow();
        return { ...present(row), secret };
      }),
    remove: async (scope, id) => {
      const { numDeletedRows } = await db
        .deleteFrom('webhooks')
        .where(withinScope(scope, 'webhooks'))
        .where('id', '=', id)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

async function urlTaken<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new HoldfastError('already_exists', 'The project has a webhook of that URL; update that one');
  }
}

/** Standard Webhooks takes secrets of 24 to 64 bytes. */
function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

function present(row: Row): WebhookRecord {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    events: row.events,
    status: row.status,
    pausedReason: row.paused_reason,
    failingSince: row.failing_since,
    lastSuccessAt: row.last_success_at,
    formerSecretUntil: row.former_until,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
