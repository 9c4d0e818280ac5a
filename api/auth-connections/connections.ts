import { z } from 'zod';
import { normalizeDomain } from '../../contract/addresses.ts';
import {
  AuthStatus,
  CanReauthReason,
  ConnectionCreate,
  ConnectionUpdate,
  ManagedAuth,
} from '../../contract/connections.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { connectionLimitReached } from '../../store/queries/organizations.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { callerOf, canSeeAccessLinks, principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { pageOf, pageQuery, QueryFlag, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';
import { changesOf, settingsOf } from './settings.ts';

const tags = ['auth connections'];

/** Whether a body shows links to a flow, which connections do only while a flow is in progress. */
const hasAccessLink = (body: unknown): boolean =>
  typeof body === 'string' && /"(?:hosted_url|live_view_url)":"/.test(body);

/** Registers connections, which keep a profile logged in to a domain. */
export function registerConnections(app: ApiServer, parts: ApiParts): void {
  createConnection(app, parts);
  listConnections(app, parts);
  retrieveConnection(app, parts);
  updateConnection(app, parts);
  deleteConnection(app, parts);
  checkConnection(app, parts);
}

/** `POST /auth/connections`: creates a connection for a profile and a domain, and the profile if it does not exist. */
function createConnection(app: ApiServer, parts: ApiParts): void {
  const { store, connections, views } = parts;
  app.route({
    method: 'POST',
    url: '/auth/connections',
    config: { returnsSecret: hasAccessLink },
    schema: {
      operationId: 'createAuthConnection',
      tags,
      body: ConnectionCreate,
      response: { 201: ManagedAuth, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const scope = await writeScope(store, principalCallerOf(request).scope);
      const settings = await settingsOf(parts, scope, request.body);
      // Detects the common duplicate without starting a workflow.
      const existing = await store.connections.byProfileAndDomain(scope, settings.profile_name, settings.domain);
      if (existing !== null) throw alreadyExists(existing.id);
      await enforceConnectionLimit(store, scope.organizationId);
      const created = await connections.create({ ...scope, settings });
      if (created.outcome === 'exists') throw alreadyExists(created.document.id);
      const document = await views.waitUntilRecorded({
        revision: created.document.revision,
        document: created.document,
      });
      return reply.code(201).send(views.present(document, true));
    },
  });
}

/** Rejects the common case without starting a workflow; the store enforces the limit for concurrent creations. */
async function enforceConnectionLimit({ connections, organizations }: ApiParts['store'], organizationId: string) {
  const limit = (await organizations.find(organizationId))?.maxAuthConnections ?? null;
  if (limit === null || (await connections.count({ organizationId, projectId: null })) < limit) return;
  throw connectionLimitReached(limit);
}

function alreadyExists(existingId: string): HoldfastError {
  const message = 'This profile already has a connection to this domain; use the one in existing_id';
  return new HoldfastError('already_exists', message, { existingId });
}

const ListQuery = z.object({
  profile_name: z.string().max(255).optional(),
  domain: z.string().max(260).optional(),
  query: queryFilter(260).describe('Part of the domain or of the profile name, in any case'),
  status: AuthStatus.optional(),
  can_reauth: QueryFlag.optional().describe('Whether it can log in again unattended'),
  can_reauth_reason: CanReauthReason.optional(),
  waiting: QueryFlag.optional().describe('`true`: a login is waiting for a person'),
  ...pageQuery,
});

/** `GET /auth/connections`: newest first, a bare array with paging headers. */
function listConnections(app: ApiServer, { store, views, clock }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections',
    config: { returnsSecret: hasAccessLink },
    schema: {
      operationId: 'listAuthConnections',
      tags,
      querystring: ListQuery,
      response: { 200: z.array(ManagedAuth) },
    },
    handler: async (request, reply) => {
      const { profile_name: profileName, domain, query, status, waiting } = request.query;
      const filter = omitUndefined({
        profileName,
        domain: domain === undefined ? undefined : (normalizeDomain(domain) ?? domain),
        query,
        status,
        canReauth: request.query.can_reauth,
        canReauthReason: request.query.can_reauth_reason,
        waitingAt: waiting === true ? clock() : undefined,
      });
      const paging = pageOf(request.query);
      const caller = principalCallerOf(request);
      const page = await store.connections.list(caller.scope, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page).map(({ document }) =>
        views.present(document, canSeeAccessLinks(caller)),
      );
    },
  });
}

/** `GET /auth/connections/{id}`: read from the store, so no worker is needed. */
function retrieveConnection(app: ApiServer, { views }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id',
    config: { access: 'hosted', returnsSecret: hasAccessLink },
    schema: { operationId: 'retrieveAuthConnection', tags, params: IdParams, response: { 200: ManagedAuth } },
    handler: async (request) => {
      const caller = callerOf(request);
      const { document } = await views.find(caller, request.params.id);
      return views.present(document, canSeeAccessLinks(caller));
    },
  });
}

/** `PATCH /auth/connections/{id}`: changes settings at once; a running flow keeps those it started with. */
function updateConnection(app: ApiServer, parts: ApiParts): void {
  const { connections, views } = parts;
  app.route({
    method: 'PATCH',
    url: '/auth/connections/:id',
    config: { returnsSecret: hasAccessLink },
    schema: {
      operationId: 'updateAuthConnection',
      tags,
      params: IdParams,
      body: ConnectionUpdate,
      response: { 200: ManagedAuth },
    },
    handler: async (request) => {
      const row = await views.find(principalCallerOf(request), request.params.id);
      const scope = { organizationId: row.organizationId, projectId: row.projectId };
      const changes = await changesOf(parts, scope, row.document.settings, request.body);
      if (Object.keys(changes).length === 0) return views.present(row.document, true);
      return views.present(await views.waitUntilRecorded(await connections.configure(row.id, changes)), true);
    },
  });
}

/** `DELETE /auth/connections/{id}`: ends the workflow, cancels a running flow and closes its browser. */
function deleteConnection(app: ApiServer, { store, connections, views }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/auth/connections/:id',
    schema: { operationId: 'deleteAuthConnection', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const { id } = await views.find(caller, request.params.id);
      try {
        await connections.remove(id);
      } catch (error) {
        // The workflow was terminated manually; remove the row it left behind.
        if (!(error instanceof HoldfastError) || error.code !== 'not_found') throw error;
        await store.connections.remove(caller.scope, id);
      }
      return reply.code(204).send();
    },
  });
}

/**
 * `POST /auth/connections/{id}/check`: runs a health check, even with `health_checks: false`. Responds with the result, or with 202
 * and the current connection if the check takes longer than a minute.
 */
function checkConnection(app: ApiServer, { connections, views }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/check',
    config: { returnsSecret: hasAccessLink },
    schema: {
      operationId: 'checkAuthConnection',
      tags,
      params: IdParams,
      response: { 200: ManagedAuth, 202: ManagedAuth, ...errorResponses(409) },
    },
    handler: async (request, reply) => {
      const { id, document } = await views.find(principalCallerOf(request), request.params.id);
      const result = await connections.check(id);
      if (result === null) return reply.code(202).send(views.present(document, true));
      return reply.code(200).send(views.present(await views.waitUntilRecorded(result), true));
    },
  });
}
