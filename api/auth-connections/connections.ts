import { z } from 'zod';
import { normalizeDomain } from '../../contract/addresses.ts';
import { ConnectionCreate, ConnectionUpdate, ManagedAuth, TimelineEvent } from '../../contract/connections.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, NoContent, refusals } from '../answer-schemas.ts';
import { callerOf, keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import { pageOf, pageQuery, sendPageHeaders } from '../pages.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';
import { changesOf, settingsOf } from './settings-rules.ts';

const tags = ['auth connections'];

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
  const { store, connections, answers } = parts;
  app.route({
    method: 'POST',
    url: '/auth/connections',
    schema: {
      operationId: 'createAuthConnection',
      tags,
      body: ConnectionCreate,
      response: { 201: ManagedAuth, ...refusals(400, 401, 403, 409) },
    },
    handler: async (request, reply) => {
      const scope = await writeScope(store, keyCallerOf(request).scope);
      const settings = await settingsOf(parts, scope, request.body);
      // The usual second create needs no workflow to learn that it is the second.
      const existing = await store.connections.byProfileAndDomain(scope, settings.profile_name, settings.domain);
      if (existing !== null) throw alreadyExists(existing.id);
      const created = await connections.create({ ...scope, settings });
      if (created.outcome === 'exists') throw alreadyExists(created.document.id);
      const document = await answers.settled({ revision: created.document.revision, document: created.document });
      return reply.code(201).send(answers.present(document, 'api_key'));
    },
  });
}

function alreadyExists(existingId: string): HoldfastError {
  const message = 'This profile already has a connection to this domain; use the one in existing_id';
  return new HoldfastError('already_exists', message, { existingId });
}

const ListQuery = z.object({
  profile_name: z.string().max(255).optional(),
  domain: z.string().max(260).optional(),
  query: z.string().max(260).optional().describe('Part of the domain or of the profile name, in any case'),
  ...pageQuery,
});

/** `GET /auth/connections`: newest first, a bare array with paging headers. */
function listConnections(app: ApiServer, { store, answers }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections',
    schema: {
      operationId: 'listAuthConnections',
      tags,
      querystring: ListQuery,
      response: { 200: z.array(ManagedAuth), ...refusals(400, 401) },
    },
    handler: async (request, reply) => {
      const { profile_name: profileName, domain, query } = request.query;
      const filter = defined({
        profileName,
        domain: domain === undefined ? undefined : (normalizeDomain(domain) ?? domain),
        query: query === '' ? undefined : query,
      });
      const asked = pageOf(request.query);
      const page = await store.connections.list(keyCallerOf(request).scope, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows.map(({ document }) => answers.present(document, 'api_key'));
    },
  });
}

/** `GET /auth/connections/{id}`. Answered from the store: no worker is needed. */
function retrieveConnection(app: ApiServer, { answers }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id',
    config: { access: 'hosted' },
    schema: {
      operationId: 'retrieveAuthConnection',
      tags,
      params: IdParams,
      response: { 200: ManagedAuth, ...refusals(401, 404) },
    },
    handler: async (request) => {
      const caller = callerOf(request);
      const { document } = await answers.find(caller, request.params.id);
      return answers.present(document, caller.kind);
    },
  });
}

/** `PATCH /auth/connections/{id}`: changed settings take effect at once, a running flow goes on with its own. */
function updateConnection(app: ApiServer, parts: ApiParts): void {
  const { connections, answers } = parts;
  app.route({
    method: 'PATCH',
    url: '/auth/connections/:id',
    schema: {
      operationId: 'updateAuthConnection',
      tags,
      params: IdParams,
      body: ConnectionUpdate,
      response: { 200: ManagedAuth, ...refusals(400, 401, 404) },
    },
    handler: async (request) => {
      const row = await answers.find(keyCallerOf(request), request.params.id);
      const scope = { organizationId: row.organizationId, projectId: row.projectId };
      const changes = await changesOf(parts, scope, row.document.settings, request.body);
      if (Object.keys(changes).length === 0) return answers.present(row.document, 'api_key');
      return answers.present(await answers.settled(await connections.configure(row.id, changes)), 'api_key');
    },
  });
}

/** `DELETE /auth/connections/{id}`: ends the workflow, cancels a running flow and closes its browser. Again: 404. */
function deleteConnection(app: ApiServer, { store, connections, answers }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/auth/connections/:id',
    schema: {
      operationId: 'deleteAuthConnection',
      tags,
      params: IdParams,
      response: { 204: NoContent, ...refusals(401, 404) },
    },
    handler: async (request, reply) => {
      const caller = keyCallerOf(request);
      const { id } = await answers.find(caller, request.params.id);
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
function checkConnection(app: ApiServer, { connections, answers }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/check',
    schema: {
      operationId: 'checkAuthConnection',
      tags,
      params: IdParams,
      response: { 200: ManagedAuth, 202: ManagedAuth, ...refusals(401, 404, 409) },
    },
    handler: async (request, reply) => {
      const { id, document } = await answers.find(keyCallerOf(request), request.params.id);
      const found = await connections.check(id);
      if (found === null) return reply.code(202).send(answers.present(document, 'api_key'));
      return reply.code(200).send(answers.present(await answers.settled(found), 'api_key'));
    },
  });
}

const TimelineQuery = z.object({ type: TimelineEvent.shape.type.optional(), ...pageQuery });

/** `GET /auth/connections/{id}/timeline`: what happened to a connection, newest first. */
function listTimeline(app: ApiServer, { store, answers }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id/timeline',
    schema: {
      operationId: 'listAuthConnectionTimeline',
      tags,
      params: IdParams,
      querystring: TimelineQuery,
      response: { 200: z.array(TimelineEvent), ...refusals(400, 401, 404) },
    },
    handler: async (request, reply) => {
      const caller = keyCallerOf(request);
      const { id } = await answers.find(caller, request.params.id);
      const asked = pageOf(request.query);
      const filter = defined({ type: request.query.type });
      const page = await store.timeline.list(caller.scope, id, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows;
    },
  });
}
