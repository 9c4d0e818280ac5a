import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import { FORMER_SECRET_SIGNS_MS } from '../../contract/limits.ts';
import type { Webhook, WebhookEventType } from '../../contract/webhooks.ts';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  findOne,
  ownerColumns,
  readNewest,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';
import { withActiveProject } from './projects.ts';

/** A webhook, without its secret. */
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

/** Changes to a webhook; omitted fields stay as they are. */
interface WebhookPatch {
  url?: string;
  description?: string;
  events?: WebhookEventType[];
  status?: Webhook['status'];
}

/** Webhooks of a project: the URLs that its events are posted to. Secrets are sealed, and shown only on creation. */
export interface WebhookQueries {
  /** Throws `already_exists` if the project has a webhook with that URL. */
  create(
    scope: ProjectScope,
    input: { url: string; description: string; events: WebhookEventType[] },
  ): Promise<WebhookRecord & { secret: string }>;
  find(scope: Scope, id: string): Promise<WebhookRecord | null>;
  /** Newest first. */
  list(scope: Scope, page: PageRequest): Promise<Page<WebhookRecord>>;
  /** Null if there is none; throws `already_exists` if the new URL is taken. Activating it delivers pending events at once. */
  patch(scope: Scope, id: string, patch: WebhookPatch): Promise<WebhookRecord | null>;
  /** Replaces the secret; the former one still signs for {@link FORMER_SECRET_SIGNS_MS}. Null if there is no such webhook. */
  rotateSecret(scope: Scope, id: string): Promise<(WebhookRecord & { secret: string }) | null>;
  /** Removes it with its deliveries. False if there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
}

type Row = Selectable<Database['webhooks']>;
type SecretColumn = 'sealed_secret' | 'sealed_former_secret';

const URL_TAKEN = 'url: the project already has a webhook with this URL; update that one';

function secretPlace(id: string, column: SecretColumn): SealedPlace {
  return { table: 'webhooks', column, rowId: id };
}

/** Opens a signing secret of a webhook. */
export function openWebhookSecret(db: Db, vault: Vault, row: Row, column: SecretColumn): Promise<string | null> {
  return vault.openText(db, row.organization_id, secretPlace(row.id, column), row[column]);
}

/** Queries of webhooks. */
export function createWebhookQueries(db: Db, vault: Vault, clock: () => Date): WebhookQueries {
  const inScope = (scope: Scope) => db.selectFrom('webhooks').selectAll().where(withinScope(scope, 'webhooks'));
  const seal = (trx: Db, organizationId: string, id: string, secret: string, column: SecretColumn) =>
    vault.sealJson(trx, organizationId, secretPlace(id, column), secret);

  return {
    create: async (scope, input) => {
      const id = newId('whk');
      const secret = newSecret();
      const row = await rejectDuplicate(
        withActiveProject(db, scope.projectId, async (trx) =>
          trx
            .insertInto('webhooks')
            .values({
              id,
              ...ownerColumns(scope),
              ...input,
              sealed_secret: await seal(trx, scope.organizationId, id, secret, 'sealed_secret'),
              status: 'active',
              created_at: clock(),
              updated_at: clock(),
            })
            .returningAll()
            .executeTakeFirstOrThrow(),
        ),
        URL_TAKEN,
      );
      return { ...present(row), secret };
    },
    find: (scope, id) => findOne(inScope(scope).where('id', '=', id), present),
    list: (scope, page) => readNewest(inScope(scope), page, present),
    patch: (scope, id, { status, ...patch }) =>
      rejectDuplicate(
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
        URL_TAKEN,
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
    remove: (scope, id) =>
      affectsRow(db.deleteFrom('webhooks').where(withinScope(scope, 'webhooks')).where('id', '=', id)),
  };
}

/** Standard Webhooks requires 24 to 64 bytes. */
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
