import { z } from 'zod';
import { assertNever } from '../../contract/assert-never.ts';
import { ApiKey } from '../../contract/api-keys.ts';
import type { ApiKeyRecord } from '../../store/queries/api-keys.ts';
import { refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { pageOf, pageQuery, QueryFlag, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';
import { allKeys } from './all-keys.ts';
import { presentApiKey } from './answer.ts';

const Query = z.object({
  status: z.enum(['active', 'deleted', 'all']).optional(),
  include_deleted: QueryFlag.optional().describe('Deprecated: the same as status=all'),
  name: z.string().max(255).optional().describe('The whole name'),
  query: z.string().max(255).optional().describe('Part of the name, the creator or the project, in any case'),
  sort_by: z.enum(['created_at', 'name', 'expires_at']).optional(),
  sort_direction: z.enum(['asc', 'desc']).optional(),
  ...pageQuery,
});
type Query = z.infer<typeof Query>;

/** `GET /org/api_keys`: newest first unless sorted otherwise, a bare array with paging headers. */
export function registerListApiKeys(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/org/api_keys',
    schema: {
      operationId: 'listApiKeys',
      tags: ['API keys'],
      querystring: Query,
      response: { 200: z.array(ApiKey), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const asked = pageOf(request.query);
      const matching = (await allKeys(store, keyCallerOf(request).scope)).filter((key) => matches(key, request.query));
      const sorted = sort(matching, request.query);
      const rows = sorted.slice(asked.offset, asked.offset + asked.limit);
      sendPageHeaders(reply, asked, { rows, hasMore: asked.offset + rows.length < sorted.length });
      return rows.map(presentApiKey);
    },
  });
}

function matches(key: ApiKeyRecord, query: Query): boolean {
  const status = query.status ?? (query.include_deleted === true ? 'all' : 'active');
  if (status !== 'all' && (status === 'deleted') !== (key.deletedAt !== null)) return false;
  if (query.name !== undefined && key.name !== query.name) return false;
  if (query.query === undefined || query.query === '') return true;
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
      // A key that never ends comes after all that do.
      return (a.expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER) - (b.expiresAt?.getTime() ?? Number.MAX_SAFE_INTEGER);
    default:
      return assertNever(by);
  }
}
