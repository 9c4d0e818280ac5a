import { z } from 'zod';
import {
  Webhook,
  WebhookCreate,
  WebhookDelivery,
  WebhookEventType,
  WebhookUpdate,
  WebhookWithSecret,
} from '../../contract/webhooks.ts';
import type { WebhookRecord } from '../../store/queries/webhooks.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { checkServerUrl } from '../address-rules.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';

const tags = ['webhooks'];
const NOT_FOUND = 'Webhook not found; check its id';

/** Registers webhooks of a project and their deliveries. */
export function registerWebhooks(app: ApiServer, parts: ApiParts): void {
  createWebhook(app, parts);
  listWebhooks(app, parts);
  retrieveWebhook(app, parts);
  updateWebhook(app, parts);
  rotateSecret(app, parts);
  deleteWebhook(app, parts);
  testWebhook(app, parts);
  listDeliveries(app, parts);
  redeliver(app, parts);
}

/** `POST /webhooks`: only this response contains the secret. URLs are unique within a project, so a retry creates no duplicate. */
function createWebhook(app: ApiServer, { store, addressPolicy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/webhooks',
    config: { returnsSecret: true },
    schema: {
      operationId: 'createWebhook',
      tags,
      body: WebhookCreate,
      response: { 201: WebhookWithSecret, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const { url, events = WebhookEventType.options, description = '' } = request.body;
      checkServerUrl(addressPolicy, 'url', url);
      const scope = await writeScope(store, principalCallerOf(request).scope);
      const { secret, ...created } = await store.webhooks.create(scope, { url, events, description });
      return reply.code(201).send({ ...present(created), secret });
    },
  });
}

/** `GET /webhooks`: newest first, a bare array with paging headers. */
function listWebhooks(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/webhooks',
    schema: {
      operationId: 'listWebhooks',
      tags,
      querystring: z.object(pageQuery),
      response: { 200: z.array(Webhook) },
    },
    handler: async (request, reply) => {
      const paging = pageOf(request.query);
      const page = await store.webhooks.list(principalCallerOf(request).scope, paging);
      return sendPageHeaders(reply, paging, page).map(present);
    },
  });
}

/** `GET /webhooks/{id}`. */
function retrieveWebhook(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/webhooks/:id',
    schema: { operationId: 'retrieveWebhook', tags, params: IdParams, response: { 200: Webhook } },
    handler: async (request) =>
      present(requireFound(await store.webhooks.find(principalCallerOf(request).scope, request.params.id), NOT_FOUND)),
  });
}

/** `PATCH /webhooks/{id}`: `status` resumes a paused webhook and its pending deliveries. */
function updateWebhook(app: ApiServer, { store, addressPolicy }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/webhooks/:id',
    schema: {
      operationId: 'updateWebhook',
      tags,
      params: IdParams,
      body: WebhookUpdate,
      response: { 200: Webhook, ...errorResponses(409) },
    },
    handler: async (request) => {
      const patch = omitUndefined(request.body);
      if (patch.url !== undefined) checkServerUrl(addressPolicy, 'url', patch.url);
      return present(
        requireFound(await store.webhooks.patch(principalCallerOf(request).scope, request.params.id, patch), NOT_FOUND),
      );
    },
  });
}

/** `POST /webhooks/{id}/rotate_secret`: for a day, deliveries are signed with the former secret as well. */
function rotateSecret(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:id/rotate_secret',
    config: { returnsSecret: true, needsConfirmation: true },
    schema: { operationId: 'rotateWebhookSecret', tags, params: IdParams, response: { 200: WebhookWithSecret } },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      const { secret, ...rotated } = requireFound(
        await store.webhooks.rotateSecret(scope, request.params.id),
        NOT_FOUND,
      );
      return { ...present(rotated), secret };
    },
  });
}

/** `DELETE /webhooks/{id}`: also drops its pending deliveries. */
function deleteWebhook(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/webhooks/:id',
    schema: { operationId: 'deleteWebhook', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const removed = await store.webhooks.remove(principalCallerOf(request).scope, request.params.id);
      requireFound(removed, NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/** `POST /webhooks/{id}/test`: sends a `webhook.test`; its delivery shows the result. */
function testWebhook(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:id/test',
    schema: { operationId: 'testWebhook', tags, params: IdParams, response: { 202: WebhookDelivery } },
    handler: async (request, reply) => {
      const delivery = await store.webhookDeliveries.addTest(principalCallerOf(request).scope, request.params.id);
      return reply.code(202).send(requireFound(delivery, NOT_FOUND));
    },
  });
}

const DeliveriesQuery = z.object({ status: WebhookDelivery.shape.status.optional(), ...pageQuery });

/** `GET /webhooks/{id}/deliveries`: newest first; kept for 30 days. */
function listDeliveries(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/webhooks/:id/deliveries',
    schema: {
      operationId: 'listWebhookDeliveries',
      tags,
      params: IdParams,
      querystring: DeliveriesQuery,
      response: { 200: z.array(WebhookDelivery) },
    },
    handler: async (request, reply) => {
      const { scope } = principalCallerOf(request);
      const { id } = requireFound(await store.webhooks.find(scope, request.params.id), NOT_FOUND);
      const paging = pageOf(request.query);
      const { status } = request.query;
      const page = await store.webhookDeliveries.list(scope, id, { ...paging, ...omitUndefined({ status }) });
      return sendPageHeaders(reply, paging, page);
    },
  });
}

const DeliveryParams = IdParams.extend({ delivery_id: IdParams.shape.id });

/** `POST /webhooks/{id}/deliveries/{delivery_id}/redeliver`: starts over, with the same `webhook-id`. */
function redeliver(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/webhooks/:id/deliveries/:delivery_id/redeliver',
    schema: {
      operationId: 'redeliverWebhookDelivery',
      tags,
      params: DeliveryParams,
      response: { 202: WebhookDelivery },
    },
    handler: async (request, reply) => {
      const { id, delivery_id: deliveryId } = request.params;
      const delivery = await store.webhookDeliveries.redeliver(principalCallerOf(request).scope, id, deliveryId);
      return reply.code(202).send(requireFound(delivery, 'Delivery not found; list the deliveries of the webhook'));
    },
  });
}

function present(record: WebhookRecord): Webhook {
  const { failingSince, lastSuccessAt, formerSecretUntil } = record;
  return {
    id: record.id,
    url: record.url,
    description: record.description,
    events: record.events,
    status: record.status,
    ...(record.pausedReason === null ? {} : { paused_reason: record.pausedReason }),
    ...(failingSince === null ? {} : { failing_since: failingSince.toISOString() }),
    ...(lastSuccessAt === null ? {} : { last_success_at: lastSuccessAt.toISOString() }),
    ...(formerSecretUntil === null ? {} : { former_secret_until: formerSecretUntil.toISOString() }),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}
