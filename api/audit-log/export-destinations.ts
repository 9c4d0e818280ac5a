import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  AuditExportDestination,
  AuditExportDestinationCreate,
  AuditExportDestinationUpdate,
  AuditExportTest,
} from '../../contract/audit-export.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ExportDestinationRecord } from '../../store/queries/audit-export-destinations.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { organizationWideCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFeature } from '../organization/entitlements.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';

const tags = ['audit log'];
const NOT_FOUND = 'Export destination not found; check its id';
const FEATURE = 'Audit log exports';
const PATH = '/audit-logs/export/destinations';

/** Registers the export destinations of an organization's audit log. Exports read their settings before each object. */
export function registerAuditExport(app: ApiServer, parts: ApiParts): void {
  createDestination(app, parts);
  listDestinations(app, parts);
  retrieveDestination(app, parts);
  updateDestination(app, parts);
  deleteDestination(app, parts);
  testDestination(app, parts);
}

/** `POST …/destinations`: creates an active destination; `…/test` checks that it can be written to. */
function createDestination(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: PATH,
    config: { role: 'owner' },
    schema: {
      operationId: 'createAuditExportDestination',
      tags,
      body: AuditExportDestinationCreate,
      response: { 201: AuditExportDestination, ...errorResponses(422) },
    },
    handler: async (request, reply) => {
      const organizationId = organizationOf(request);
      requireFeature(parts, 'auditLogExports', FEATURE);
      const roleArn = serviceRoleOf(parts);
      if (roleArn === '')
        throw new HoldfastError(
          'operation_failed',
          'This installation has no role to export with; the operator sets HOLDFAST_EXPORT_SERVICE_ROLE_ARN',
        );
      const { type: _type, format: _format, kms_key_id: keyId = '', ...settings } = request.body;
      const created = await parts.store.auditExportDestinations.create(organizationId, {
        ...settings,
        kms_key_id: keyId === '' ? null : keyId,
      });
      await wake(parts, created.id);
      return reply.code(201).send(present(created, roleArn));
    },
  });
}

/** `GET …/destinations`: newest first, a bare array with paging headers. */
function listDestinations(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'GET',
    url: PATH,
    schema: {
      operationId: 'listAuditExportDestinations',
      tags,
      querystring: z.object(pageQuery),
      response: { 200: z.array(AuditExportDestination) },
    },
    handler: async (request, reply) => {
      const paging = pageOf(request.query);
      const page = await parts.store.auditExportDestinations.list(organizationOf(request), paging);
      return sendPageHeaders(reply, paging, page).map((row) => present(row, serviceRoleOf(parts)));
    },
  });
}

/** `GET …/destinations/{id}`. */
function retrieveDestination(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'GET',
    url: `${PATH}/:id`,
    schema: {
      operationId: 'retrieveAuditExportDestination',
      tags,
      params: IdParams,
      response: { 200: AuditExportDestination },
    },
    handler: async (request) => present(await destinationOf(parts, request, request.params.id), serviceRoleOf(parts)),
  });
}

/** `PATCH …/destinations/{id}`: an export that is waiting after failures is retried at once. */
function updateDestination(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: `${PATH}/:id`,
    config: { role: 'owner' },
    schema: {
      operationId: 'updateAuditExportDestination',
      tags,
      params: IdParams,
      body: AuditExportDestinationUpdate,
      response: { 200: AuditExportDestination },
    },
    handler: async (request) => {
      // A destination from another plan keeps running and can be edited or paused, but not reactivated.
      if (request.body.status === 'active') requireFeature(parts, 'auditLogExports', FEATURE);
      const { kms_key_id: keyId, ...settings } = omitUndefined(request.body);
      const patch = {
        ...settings,
        ...(keyId === undefined || keyId === null ? {} : { kms_key_id: keyId === '' ? null : keyId }),
      };
      const changed = requireFound(
        await parts.store.auditExportDestinations.patch(organizationOf(request), request.params.id, patch),
        NOT_FOUND,
      );
      await wake(parts, changed.id);
      return present(changed, serviceRoleOf(parts));
    },
  });
}

/** `DELETE …/destinations/{id}`: stops the export; objects already written remain. */
function deleteDestination(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: `${PATH}/:id`,
    config: { role: 'owner' },
    schema: { operationId: 'deleteAuditExportDestination', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const { id } = request.params;
      requireFound(await parts.store.auditExportDestinations.remove(organizationOf(request), id), NOT_FOUND);
      await wake(parts, id);
      return reply.code(204).send();
    },
  });
}

/** `POST …/destinations/{id}/test`: assumes the role and writes an empty object, even if the destination is paused. */
function testDestination(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: `${PATH}/:id/test`,
    schema: { operationId: 'testAuditExportDestination', tags, params: IdParams, response: { 200: AuditExportTest } },
    handler: async (request) => parts.auditExports.test(await destinationOf(parts, request, request.params.id)),
  });
}

function organizationOf(request: FastifyRequest): string {
  const message = 'Export destinations belong to the organization; use an organization-wide key';
  return organizationWideCallerOf(request, message).scope.organizationId;
}

async function destinationOf({ store }: ApiParts, request: FastifyRequest, id: string) {
  return requireFound(await store.auditExportDestinations.find(organizationOf(request), id), NOT_FOUND);
}

function serviceRoleOf({ settings }: ApiParts): string {
  return settings.exportServiceRoleArn ?? '';
}

/**
 * Notifies the workflow. If Temporal is unavailable the request still succeeds: workers pick up active destinations within a
 * minute, and a running export reads its row before each object.
 */
async function wake({ auditExports, logger }: ApiParts, id: string): Promise<void> {
  await auditExports
    .wake(id)
    .catch(() => logger.warn({ destination_id: id }, 'export workflow not notified of changed destination'));
}

function present(record: ExportDestinationRecord, serviceRoleArn: string): AuditExportDestination {
  const { kmsKeyId, lastError, lastErrorAt, lastSuccessAt, nextAttemptAt, lastExportedCursor } = record;
  return {
    id: record.id,
    type: 's3',
    format: 'jsonl.gz',
    region: record.region,
    bucket: record.bucket,
    prefix: record.prefix,
    role_arn: record.roleArn,
    external_id: record.externalId,
    service_role_arn: serviceRoleArn,
    ...(kmsKeyId === null ? {} : { kms_key_id: kmsKeyId }),
    status: record.status,
    consecutive_failures: record.consecutiveFailures,
    ...(lastError === null ? {} : { last_error: lastError }),
    ...(lastErrorAt === null ? {} : { last_error_at: lastErrorAt.toISOString() }),
    ...(lastSuccessAt === null ? {} : { last_success_at: lastSuccessAt.toISOString() }),
    ...(nextAttemptAt === null ? {} : { next_attempt_at: nextAttemptAt.toISOString() }),
    ...(lastExportedCursor === null ? {} : { last_exported_cursor: lastExportedCursor }),
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
  };
}
