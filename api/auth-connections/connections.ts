import { z } from 'zod';
import { normalizeDomain } from '../../contract/addresses.ts';
import {
  AuthStatus,
  CanReauthReason,
  ConnectionCreate,
  ConnectionUpdate,
  ManagedAuth,
  TimelineEvent,
} from '../../contract/connections.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { connectionLimitReached } from '../../store/queries/organizations.ts';
import { IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { callerOf, canSeeAccessLinks, principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { pageOf, pageQuery, pageQueryWithOneMore, QueryFlag, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';
import { changesOf, settingsOf } from './settings.ts';

const tags = ['auth connections'];

/** A connection shows links while a flow of it is open, and else none. */
const hasAccessLink = (body: unknown): boolean =>
  typeof body === 'string' && /"(?:hosted_url|live_view_url)":"/.test(body);

/** Connections: what keeps a profile logged in to a domain. Their logins and streams have files of their own. */
export function registerConnections(app: ApiServer, parts: ApiParts): void {
  createConnection(app, parts);
  listConnections(app, parts);
  retrieveConnection(app, parts);
  updateConnection(app, parts);
  deleteConnection(app, parts);
  checkConnection(app, parts);
  listTimeline(app, parts);
}

/** `POST /auth/connections`: a connection for a profile and a domain; a profile that is missing is made. */
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
      // The usual second create needs no workflow to learn that it is the second.
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

/** The usual refusal needs no workflow either; of those that come at the same time the store refuses the ones too many. */
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
  query: z.string().max(260).optional().describe('Part of the domain or of the profile name, in any case'),
  status: AuthStatus.optional(),
  can_reauth: QueryFlag.optional().describe('Whether it may log in again with nobody there'),
  can_reauth_reason: CanReauthReason.optional(),
  waiting: QueryFlag.optional().describe('`true`: a login waits for somebody now'),
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
        query: query === '' ? undefined : query,
        status,
        canReauth: request.query.can_reauth,
        canReauthReason: request.query.can_reauth_reason,
        waitingAt: waiting === true ? clock() : undefined,
      });
      const paging = pageOf(request.query);
      const caller = principalCallerOf(request);
      const page = await store.connections.list(caller.scope, { ...paging, ...filter });
      sendPageHeaders(reply, paging, page);
      return page.rows.map(({ document }) => views.present(document, canSeeAccessLinks(caller)));
    },
  });
}

/** `GET /auth/connections/{id}`. Answered from the store: no worker is needed. */
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

/** `PATCH /auth/connections/{id}`: changed settings take effect at once, a running flow goes on with its own. */
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

/** `DELETE /auth/connections/{id}`: ends the workflow, cancels a running flow and closes its browser. Again: 404. */
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
        // The workflow is gone but its row is not (somebody terminated it by hand): what is left goes too.
        if (!(error instanceof HoldfastError) || error.code !== 'not_found') throw error;
        await store.connections.remove(caller.scope, id);
      }
      return reply.code(204).send();
    },
  });
}

/**
 * `POST /auth/connections/{id}/check`: a health check by hand; works with `health_checks: false`. Answers what was found; 202
 * with the connection as it was when the check still runs after a minute.
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
      const found = await connections.check(id);
      if (found === null) return reply.code(202).send(views.present(document, true));
      return reply.code(200).send(views.present(await views.waitUntilRecorded(found), true));
    },
  });
}

const TimelineQuery = z.object({ type: TimelineEvent.shape.type.optional(), ...pageQueryWithOneMore });

/** `GET /auth/connections/{id}/timeline`: what happened to a connection, newest first. */
function listTimeline(app: ApiServer, { store, views }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id/timeline',
    schema: {
      operationId: 'listAuthConnectionTimeline',
      tags,
      params: IdParams,
      querystring: TimelineQuery,
      response: { 200: z.array(TimelineEvent) },
    },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const { id } = await views.find(caller, request.params.id);
      const paging = pageOf(request.query);
      const filter = omitUndefined({ type: request.query.type });
      const page = await store.timeline.list(caller.scope, id, { ...paging, ...filter });
      sendPageHeaders(reply, paging, page);
      return page.rows;
    },
  });
}
