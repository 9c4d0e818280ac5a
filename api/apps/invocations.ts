import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  ASYNC_TIMEOUT_S,
  CreatedInvocation,
  Invocation,
  InvocationCreate,
  InvocationStatus,
  InvocationUpdate,
  isEnded,
  SYNC_TIMEOUT_S,
} from '../../contract/apps.ts';
import { Browser } from '../../contract/browsers.ts';
import type { AppEvent } from '../../store/queries/app-events.ts';
import type { InvocationRecord } from '../../store/queries/invocations.ts';
import { EventStreamResponse, IdParams, NoContent, errorResponses } from '../response-schemas.ts';
import { streamAppEvents, Since } from './event-stream.ts';
import { publicAddressHeaders } from '../browsers/forwarding.ts';
import { principalCallerOf, programOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, queryFilter, pageQuery, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';

const tags = ['invocations'];
const NOT_FOUND = 'Invocation not found; check its id and the project';
/** How much longer than its invocation a synchronous call waits for the result to be recorded, in milliseconds. */
const GRACE_MS = 30_000;

/** Registers invocations of actions of users' programs. */
export function registerInvocations(app: ApiServer, parts: ApiParts): void {
  createInvocation(app, parts);
  listInvocations(app, parts);
  retrieveInvocation(app, parts);
  updateInvocation(app, parts);
  followInvocation(app, parts);
  listInvocationBrowsers(app, parts);
  deleteInvocationBrowsers(app, parts);
}

/** `POST /invocations`: responds with the output, or immediately with `async`. */
function createInvocation(app: ApiServer, parts: ApiParts): void {
  const { store, apps } = parts;
  app.route({
    method: 'POST',
    url: '/invocations',
    schema: {
      operationId: 'createInvocation',
      tags,
      body: InvocationCreate,
      response: { 200: CreatedInvocation, 202: CreatedInvocation, ...errorResponses(529) },
    },
    handler: async (request, reply) => {
      const { body } = request;
      const timeoutSeconds = body.async ? (body.async_timeout_seconds ?? ASYNC_TIMEOUT_S) : SYNC_TIMEOUT_S;
      const scope = await writeScope(store, principalCallerOf(request).scope);
      const created = await store.invocations.create(scope, {
        appName: body.app_name,
        version: body.version,
        actionName: body.action_name,
        payload: body.payload ?? null,
        retries: body.retries,
        timeoutSeconds,
      });
      const { id, retries } = created;
      try {
        await apps.invoke({ invocationId: id, timeoutMs: timeoutSeconds * 1000, retries });
      } catch (error) {
        await store.invocations.end(id, 'failed', { reason: 'The invocation could not be started; try again' });
        throw error;
      }
      if (body.async) return reply.code(202).send(presentCreated(created));
      const disconnected = new AbortController();
      reply.raw.once('close', () => disconnected.abort());
      const timeout = AbortSignal.timeout(timeoutSeconds * 1000 + GRACE_MS);
      const signal = AbortSignal.any([disconnected.signal, timeout]);
      return presentCreated(await waitForEnd(parts, created, signal));
    },
  });
}

/** Resolves with the invocation once it has ended, or in its current state when the signal aborts. */
async function waitForEnd(
  { store }: ApiParts,
  invocation: InvocationRecord,
  signal: AbortSignal,
): Promise<InvocationRecord> {
  for await (const _ of store.appChanges.watch(invocation.id, signal)) {
    const status = await store.appEvents.statusOf({ table: 'invocations', id: invocation.id });
    if (status === null || isEnded(status)) break;
  }
  return (await store.invocations.byId(invocation.id)) ?? invocation;
}

const Query = z.object({
  app_name: queryFilter(),
  action_name: queryFilter(),
  version: queryFilter(),
  deployment_id: queryFilter(),
  status: InvocationStatus.optional(),
  since: Since,
  query: queryFilter().describe('Part of the name of the app or the action, in any case, or the whole id'),
  ...pageQuery,
});

/** `GET /invocations`: newest first, a bare array with paging headers. */
function listInvocations(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/invocations',
    schema: { operationId: 'listInvocations', tags, querystring: Query, response: { 200: z.array(Invocation) } },
    handler: async (request, reply) => {
      const { app_name, action_name, version, deployment_id, status, since, query } = request.query;
      const paging = pageOf(request.query);
      const filter = { appName: app_name, actionName: action_name, version, deploymentId: deployment_id };
      const page = await store.invocations.list(principalCallerOf(request).scope, {
        ...paging,
        ...omitUndefined({ ...filter, status, since, query }),
      });
      return sendPageHeaders(reply, paging, page).map(present);
    },
  });
}

/** `GET /invocations/{id}`. */
function retrieveInvocation(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/invocations/:id',
    schema: { operationId: 'retrieveInvocation', tags, params: IdParams, response: { 200: Invocation } },
    handler: async (request) => present(await findInvocation(store, request)),
  });
}

/** `PATCH /invocations/{id}`: ends a running invocation and kills its program. No effect once it has ended. */
function updateInvocation(app: ApiServer, { store, apps }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/invocations/:id',
    schema: {
      operationId: 'updateInvocation',
      tags,
      params: IdParams,
      body: InvocationUpdate,
      response: { 200: Invocation },
    },
    handler: async (request) => {
      const { id } = await findInvocation(store, request);
      const { status, output } = request.body;
      const reason = status === 'failed' ? 'The invocation was ended' : undefined;
      await store.invocations.end(id, status, omitUndefined({ output, reason }));
      await apps.cancel('invocation', id);
      return present(await findInvocation(store, request));
    },
  });
}

/** `GET /invocations/{id}/events`: streams its log and status until it ends. `Last-Event-ID` resumes. */
function followInvocation(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/invocations/:id/events',
    schema: {
      operationId: 'followInvocation',
      tags,
      description: 'Server-sent events: log, invocation_state, error, sse_heartbeat.',
      params: IdParams,
      querystring: z.object({ since: Since }),
      response: { 200: EventStreamResponse },
    },
    handler: async (request, reply) => {
      const record = await findInvocation(parts.store, request);
      await streamAppEvents(parts, request, reply, {
        subject: { table: 'invocations', id: record.id },
        since: request.query.since,
        present: (event) => presentEvent(record, event),
        isLast: isEnded,
      });
    },
  });
}

const Browsers = z.object({ browsers: z.array(Browser) });

/** `GET /invocations/{id}/browsers`: the running browsers that its program has opened. */
function listInvocationBrowsers(app: ApiServer, { store, browserService, settings }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/invocations/:id/browsers',
    config: { returnsSecret: true },
    schema: {
      operationId: 'listInvocationBrowsers',
      tags,
      params: IdParams,
      response: { 200: Browsers, ...errorResponses(502) },
    },
    handler: async (request) => {
      const { id, projectId } = await findInvocation(store, request);
      const headers = publicAddressHeaders(settings, programOf(request));
      const path = `/invocations/${id}/browsers`;
      return browserService.call({ method: 'GET', path, projectId, headers, schema: Browsers });
    },
  });
}

/** `DELETE /invocations/{id}/browsers`: closes the browsers that its program has opened. */
function deleteInvocationBrowsers(app: ApiServer, { store, browserService }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/invocations/:id/browsers',
    schema: {
      operationId: 'deleteInvocationBrowsers',
      tags,
      params: IdParams,
      response: { 204: NoContent, ...errorResponses(502) },
    },
    handler: async (request, reply) => {
      const { id, projectId } = await findInvocation(store, request);
      await browserService.call({ method: 'DELETE', path: `/invocations/${id}/browsers`, projectId, schema: null });
      return reply.code(204).send();
    },
  });
}

async function findInvocation(
  { invocations }: ApiParts['store'],
  request: FastifyRequest<{ Params: z.infer<typeof IdParams> }>,
): Promise<InvocationRecord> {
  return requireFound(await invocations.find(principalCallerOf(request).scope, request.params.id), NOT_FOUND);
}

function present(record: InvocationRecord): Invocation {
  const { payload, outcome } = record;
  return {
    id: record.id,
    app_name: record.appName,
    version: record.version,
    action_name: record.actionName,
    status: record.status,
    ...(outcome.reason === undefined ? {} : { status_reason: outcome.reason }),
    ...(payload === null ? {} : { payload }),
    ...(outcome.output === undefined ? {} : { output: outcome.output }),
    started_at: record.startedAt.toISOString(),
    finished_at: record.finishedAt?.toISOString() ?? null,
  };
}

function presentCreated(record: InvocationRecord): z.infer<typeof CreatedInvocation> {
  const { id, action_name, status, output, status_reason } = present(record);
  return { id, action_name, status, ...omitUndefined({ output, status_reason }) };
}

function presentEvent(record: InvocationRecord, { at, body }: AppEvent) {
  const timestamp = at.toISOString();
  if (body.event !== 'state') return { event: 'log', timestamp, message: 'message' in body ? body.message : '' };
  const status = InvocationStatus.parse(body.status);
  const { output, reason } = body;
  const invocation = present({
    ...record,
    status,
    outcome: omitUndefined({ output, reason }),
    finishedAt: isEnded(status) ? at : null,
  });
  return { event: 'invocation_state', timestamp, invocation };
}
