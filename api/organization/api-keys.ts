import { z } from 'zod';
import {
  ApiKey,
  ApiKeyCreate,
  ApiKeyRotate,
  ApiKeyUpdate,
  CreatedApiKey,
  DEFAULT_ROTATION_GRACE_DAYS,
  MAX_KEY_DAYS,
} from '../../contract/api-keys.ts';
import { assertNever } from '../../contract/assert-never.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import type { ApiKeyRecord } from '../../store/queries/api-keys.ts';
import type { Scope } from '../../store/scope.ts';
import { IdParams, NoContent } from '../response-schemas.ts';
import { creatorOf, principalCallerOf, rejectPrograms } from '../caller.ts';
import type { ApiDeps, ApiServer } from '../context.ts';
import { requireProjects } from './entitlements.ts';
import { requireFound } from '../nullish.ts';
import { QueryFlag, pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';

const tags = ['API keys'];
const NOT_FOUND = 'API key not found; check its id and the project';

/** Registers API keys. The key itself is shown once, when it is created or rotated. */
export function registerApiKeys(app: ApiServer, parts: ApiParts): void {
  createApiKey(app, parts);
  listApiKeys(app, parts);
  retrieveApiKey(app, parts);
  updateApiKey(app, parts);
  deleteApiKey(app, parts);
  rotateApiKey(app, parts);
}

/** `POST /org/api_keys`: responds with the key. A project's credential creates keys of that project. */
function createApiKey(app: ApiServer, parts: ApiParts): void {
  const { store, clock } = parts;
  app.route({
    method: 'POST',
    url: '/org/api_keys',
    config: { returnsSecret: true, needsConfirmation: true },
    schema: { operationId: 'createApiKey', tags, body: ApiKeyCreate, response: { 201: CreatedApiKey } },
    handler: async (request, reply) => {
      rejectPrograms(request, 'create API keys');
      const caller = principalCallerOf(request);
      const { scope } = caller;
      const { name, days_to_expire: days = null, expires_at: at = null, project_id: projectId } = request.body;
      if (typeof projectId === 'string') await requireProjects(parts, scope.organizationId);
      const { record, key } = await store.apiKeys.create(scope, {
        name,
        expiresAt: at === null ? inDays(clock(), days) : futureTime(clock(), at),
        projectId: projectId === undefined ? scope.projectId : projectId,
        createdBy: creatorOf(caller),
      });
      return reply.code(201).send({ ...presentApiKey(record), key });
    },
  });
}

const Query = z.object({
  status: z.enum(['active', 'deleted', 'all']).optional(),
  include_deleted: QueryFlag.optional().describe('Deprecated: the same as status=all'),
  name: z.string().max(255).optional().describe('The whole name'),
  query: queryFilter().describe('Part of the name, the creator or the project, in any case'),
  sort_by: z.enum(['created_at', 'name', 'expires_at']).optional(),
  sort_direction: z.enum(['asc', 'desc']).optional(),
  ...pageQuery,
});
type Query = z.infer<typeof Query>;

/** `GET /org/api_keys`: newest first unless sorted otherwise, a bare array with paging headers. */
function listApiKeys(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/api_keys',
    schema: { operationId: 'listApiKeys', tags, querystring: Query, response: { 200: z.array(ApiKey) } },
    handler: async (request, reply) => {
      const paging = pageOf(request.query);
      const matching = (await allKeys(store, principalCallerOf(request).scope)).filter((key) =>
        matches(key, request.query),
      );
      const sorted = sort(matching, request.query);
      const rows = sorted.slice(paging.offset, paging.offset + paging.limit);
      sendPageHeaders(reply, paging, { rows, hasMore: paging.offset + rows.length < sorted.length });
      return rows.map(presentApiKey);
    },
  });
}

function matches(key: ApiKeyRecord, query: Query): boolean {
  const status = query.status ?? (query.include_deleted === true ? 'all' : 'active');
  if (status !== 'all' && (status === 'deleted') !== (key.deletedAt !== null)) return false;
  if (query.name !== undefined && key.name !== query.name) return false;
  if (query.query === undefined) return true;
  const part = query.query.toLowerCase();
  const texts = [key.name, key.createdBy.email, key.createdBy.name ?? '', key.projectName ?? ''];
  return (
    texts.some((text) => text.toLowerCase().includes(part)) ||
    key.id.startsWith(query.query) ||
    key.maskedKey.startsWith(query.query)
  );
}

function sort(keys: ApiKeyRecord[], { sort_by: by, sort_direction: direction = 'desc' }: Query): ApiKeyRecord[] {
  if (by === undefined) return direction === 'asc' ? keys.toReversed() : keys;
  const sign = direction === 'asc' ? 1 : -1;
  return keys.toSorted((a, b) => sign * compare(a, b, by));
}

function compare(a: ApiKeyRecord, b: ApiKeyRecord, by: NonNullable<Query['sort_by']>): number {
  switch (by) {
    case 'created_at':
      return a.createdAt.getTime() - b.createdAt.getTime();
    case 'name':
      return a.name < b.name ? -1 : Number(a.name > b.name);
    case 'expires_at':
      // Keys without expiry sort last.
      return (a.expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER) - (b.expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER);
    default:
      return assertNever(by);
  }
}

/** `GET /org/api_keys/{id}`: `include_deleted=true` includes revoked keys. */
function retrieveApiKey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/api_keys/:id',
    schema: {
      operationId: 'retrieveApiKey',
      tags,
      params: IdParams,
      querystring: z.object({ include_deleted: QueryFlag.optional() }),
      response: { 200: ApiKey },
    },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      const { id } = request.params;
      const live = await store.apiKeys.find(scope, id);
      if (live !== null) return presentApiKey(live);
      const deleted = request.query.include_deleted === true ? await allKeys(store, scope) : [];
      const key = deleted.find((one) => one.id === id);
      return presentApiKey(requireFound(key, NOT_FOUND));
    },
  });
}

/** `PATCH /org/api_keys/{id}`: renames it. */
function updateApiKey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/org/api_keys/:id',
    schema: { operationId: 'updateApiKey', tags, params: IdParams, body: ApiKeyUpdate, response: { 200: ApiKey } },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      const renamed = await store.apiKeys.rename(scope, request.params.id, request.body.name);
      return presentApiKey(requireFound(renamed, NOT_FOUND));
    },
  });
}

/** `DELETE /org/api_keys/{id}`: revokes it at once. A key cannot delete itself. */
function deleteApiKey(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/org/api_keys/:id',
    schema: { operationId: 'deleteApiKey', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      if (caller.kind === 'api_key' && caller.key.id === request.params.id) {
        throw new HoldfastError(
          'cannot_delete_current_key',
          'This request uses the key itself; delete it with another key',
        );
      }
      requireFound(await store.apiKeys.remove(caller.scope, request.params.id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/** `POST /org/api_keys/{id}/rotate`: creates a key with the same name and project; the former one expires after a grace period. */
function rotateApiKey(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/org/api_keys/:id/rotate',
    config: { returnsSecret: true, needsConfirmation: true },
    schema: {
      operationId: 'rotateApiKey',
      tags,
      params: IdParams,
      body: ApiKeyRotate,
      response: { 201: CreatedApiKey },
    },
    handler: async (request, reply) => {
      rejectPrograms(request, 'create API keys');
      const caller = principalCallerOf(request);
      const { scope } = caller;
      const now = clock();
      const former = requireFound(await store.apiKeys.find(scope, request.params.id), NOT_FOUND);
      const graceDays = request.body?.expire_in_days ?? DEFAULT_ROTATION_GRACE_DAYS;
      const days = request.body?.days_to_expire;
      const rotated = await store.apiKeys.rotate(scope, former.id, {
        expiresAt: days === undefined ? sameLifetime(former, now) : inDays(now, days),
        formerExpiresAt: inDays(now, graceDays) ?? now,
        createdBy: creatorOf(caller),
      });
      const { record, key } = requireFound(rotated, NOT_FOUND);
      return reply.code(201).send({ ...presentApiKey(record), key });
    },
  });
}

/** The expiry time of a key. Throws `invalid_input` unless it is in the future, within the maximum lifetime. */
function futureTime(now: Date, text: string): Date {
  const at = new Date(text);
  const latest = inDays(now, MAX_KEY_DAYS) ?? now;
  if (at > now && at <= latest) return at;
  throw invalidField('expires_at', `must be in the future, at most ${String(MAX_KEY_DAYS)} days ahead`);
}

function sameLifetime({ createdAt, expiresAt }: ApiKeyRecord, now: Date): Date | null {
  return expiresAt === null ? null : new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());
}

/** Keys per read, and in total: an organization has tens. */
const BATCH_SIZE = 500;
const MAX_KEYS = 10_000;

/** Every key in scope, including deleted ones, newest first: for rare reads with filters or an order that no index supports. */
async function allKeys(store: ApiDeps['store'], scope: Scope): Promise<ApiKeyRecord[]> {
  const keys: ApiKeyRecord[] = [];
  while (keys.length < MAX_KEYS) {
    const page = await store.apiKeys.list(scope, { limit: BATCH_SIZE, offset: keys.length, includeDeleted: true });
    keys.push(...page.rows);
    if (!page.hasMore) break;
  }
  return keys;
}

const DAY_MS = 86_400_000;

/** The public representation: never the key itself. */
function presentApiKey(record: ApiKeyRecord): ApiKey {
  return {
    id: record.id,
    name: record.name,
    created_at: record.createdAt.toISOString(),
    created_by: record.createdBy,
    expires_at: record.expiresAt?.toISOString() ?? null,
    deleted_at: record.deletedAt?.toISOString() ?? null,
    project_id: record.projectId,
    project_name: record.projectName,
    masked_key: record.maskedKey,
  };
}

/** The expiry time in a number of days; null for a key that never expires. */
function inDays(now: Date, days: number | null): Date | null {
  return days === null ? null : new Date(now.getTime() + days * DAY_MS);
}
