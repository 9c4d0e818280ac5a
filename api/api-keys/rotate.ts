import { ApiKeyRotate, CreatedApiKey, DEFAULT_ROTATION_GRACE_DAYS } from '../../contract/api-keys.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ApiKeyRecord } from '../../store/queries/api-keys.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { inDays, presentApiKey } from './answer.ts';

/** `POST /org/api_keys/{id}/rotate`: a new key of the same name and project; the former one ends after a grace period. */
export function registerRotateApiKey(app: ApiServer, { store, clock }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/org/api_keys/:id/rotate',
    config: { answersSecret: true },
    schema: {
      operationId: 'rotateApiKey',
      tags: ['API keys'],
      params: IdParams,
      body: ApiKeyRotate,
      response: { 201: CreatedApiKey, ...refusals(400, 401, 404) },
    },
    handler: async (request, reply) => {
      const { key: own, scope } = keyCallerOf(request);
      const now = clock();
      const former = await store.apiKeys.find(scope, request.params.id);
      if (former === null) throw new HoldfastError('not_found', 'no such API key');
      const graceDays = request.body?.expire_in_days ?? DEFAULT_ROTATION_GRACE_DAYS;
      const days = request.body?.days_to_expire;
      const rotated = await store.apiKeys.rotate(scope, former.id, {
        expiresAt: days === undefined ? sameLifetime(former, now) : inDays(now, days),
        formerExpiresAt: inDays(now, graceDays) ?? now,
        createdBy: own.createdBy,
      });
      if (rotated === null) throw new HoldfastError('not_found', 'no such API key');
      return reply.code(201).send({ ...presentApiKey(rotated.record), key: rotated.key });
    },
  });
}

function sameLifetime({ createdAt, expiresAt }: ApiKeyRecord, now: Date): Date | null {
  return expiresAt === null ? null : new Date(now.getTime() + expiresAt.getTime() - createdAt.getTime());
}
