import multipart from '@fastify/multipart';
import { z } from 'zod';
import { APP_REGION, Deployment, DeploymentStatus, GithubSource, MAX_SOURCE_BYTES } from '../../contract/apps.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { AppEvent } from '../../store/queries/app-events.ts';
import type { DeploymentRecord, Repository } from '../../store/queries/deployments.ts';
import { BinaryContent, EventStreamResponse, IdParams, NoContent } from '../response-schemas.ts';
import { streamAppEvents, Since } from './event-stream.ts';
import { principalCallerOf, rejectPrograms } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { MAX_ENV_VALUE, MAX_ENV_VARS, parseDeploymentForm } from './deployment-form.ts';
import { envVarsFor, hasEnvValue } from './apps.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, queryFilter, pageQueryWithOneMore, sendPageHeaders } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { writeScope } from '../scope.ts';

const tags = ['deployments'];
const NOT_FOUND = 'Deployment not found; check its id and the project';
/** Responses contain environment values only for people who may see them. */
const SHOWS_ENVIRONMENT = { returnsSecret: hasEnvValue };
/** The statuses that end the stream of a deployment: its build is over. */
const SETTLED: ReadonlySet<string> = new Set(['running', 'failed', 'stopped']);

/** Registers deployments of users' programs. */
export function registerDeployments(app: ApiServer, parts: ApiParts): void {
  createDeployment(app, parts);
  listDeployments(app, parts);
  retrieveDeployment(app, parts);
  followDeployment(app, parts);
  deleteDeployment(app, parts);
}

/** `POST /deployments`: accepts an archive or fetches one from a repository, and builds it in the background. */
function createDeployment(app: ApiServer, { store, apps, fetchSource }: ApiParts): void {
  void app.register(async (forms: ApiServer) => {
    await forms.register(multipart, {
      limits: { fileSize: MAX_SOURCE_BYTES, files: 1, fields: MAX_ENV_VARS + 20, fieldSize: MAX_ENV_VALUE },
    });
    forms.route({
      method: 'POST',
      url: '/deployments',
      config: SHOWS_ENVIRONMENT,
      schema: {
        operationId: 'createDeployment',
        tags,
        consumes: ['multipart/form-data'],
        body: z.object({
          file: BinaryContent.describe('ZIP archive of the program; or send `source`').optional(),
          entrypoint_rel_path: z.string().optional().describe('With `file`'),
          source: GithubSource.optional().describe(
            'As JSON, or each member as a field: `source[url]`, `source[auth][token]`',
          ),
          version: z.string().optional(),
          force: z.boolean().optional().describe('Take over a version from another deployment'),
          region: z.literal(APP_REGION).optional(),
          env_vars: z.record(z.string(), z.string()).optional(),
        }),
        response: { 201: Deployment },
      },
      // The schema is for the OpenAPI document only: the handler parses the form.
      validatorCompiler: () => (value: unknown) => ({ value }),
      handler: async (request, reply) => {
        rejectPrograms(request, 'deploy programs');
        const { source, ...form } = await parseDeploymentForm(request);
        const scope = await writeScope(store, principalCallerOf(request).scope);
        const created = await store.deployments.create(
          scope,
          Buffer.isBuffer(source)
            ? { ...form, archive: source }
            : { ...form, ...(await fetchSource(source)), repository: repositoryOf(source) },
        );
        try {
          await apps.deploy(created.id);
        } catch (error) {
          await store.deployments.end(created.id, 'failed', 'The build could not be started; deploy again');
          throw error;
        }
        return reply.code(201).send(present(created, await envVarsFor({ store }, principalCallerOf(request))(created)));
      },
    });
  });
}

const Query = z.object({
  app_name: queryFilter().describe('The whole name of an app that it currently provides'),
  app_version: queryFilter().describe('The whole version; with app_name'),
  query: queryFilter().describe('Part of the name of an app, in any case, or the whole id'),
  ...pageQueryWithOneMore,
});

/** `GET /deployments`: newest first, a bare array with paging headers. */
function listDeployments(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/deployments',
    config: SHOWS_ENVIRONMENT,
    schema: { operationId: 'listDeployments', tags, querystring: Query, response: { 200: z.array(Deployment) } },
    handler: async (request, reply) => {
      const { app_name: appName, app_version: appVersion, query } = request.query;
      if (appVersion !== undefined && appName === undefined) {
        throw new HoldfastError('invalid_input', 'app_version: needs app_name; send both');
      }
      const paging = pageOf(request.query);
      const caller = principalCallerOf(request);
      const filter = { ...paging, ...omitUndefined({ appName, appVersion, query }) };
      const page = await store.deployments.list(caller.scope, filter);
      const presentEnvVars = envVarsFor({ store }, caller);
      return Promise.all(
        sendPageHeaders(reply, paging, page).map(async (row) => present(row, await presentEnvVars(row))),
      );
    },
  });
}

/** `GET /deployments/{id}`. */
function retrieveDeployment(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/deployments/:id',
    config: SHOWS_ENVIRONMENT,
    schema: { operationId: 'retrieveDeployment', tags, params: IdParams, response: { 200: Deployment } },
    handler: async (request) => {
      const caller = principalCallerOf(request);
      const record = requireFound(await store.deployments.find(caller.scope, request.params.id), NOT_FOUND);
      return present(record, await envVarsFor({ store }, caller)(record));
    },
  });
}

/** `GET /deployments/{id}/events`: streams its build log and status until the build is over. `Last-Event-ID` resumes. */
function followDeployment(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/deployments/:id/events',
    // A stream cannot be inspected for values before it is sent.
    config: { role: 'viewer', returnsSecret: true },
    schema: {
      operationId: 'followDeployment',
      tags,
      description: 'Server-sent events: log, deployment_state, app_version_summary, error, sse_heartbeat.',
      params: IdParams,
      querystring: z.object({ since: Since }),
      response: { 200: EventStreamResponse },
    },
    handler: async (request, reply) => {
      const caller = principalCallerOf(request);
      const record = requireFound(await parts.store.deployments.find(caller.scope, request.params.id), NOT_FOUND);
      const envVars = await envVarsFor(parts, caller)(record);
      await streamAppEvents(parts, request, reply, {
        subject: { table: 'deployments', id: record.id },
        since: request.query.since,
        present: (event) => presentEvent(record, event, envVars),
        isLast: (status) => SETTLED.has(status),
      });
    },
  });
}

/** `DELETE /deployments/{id}`: removes its app versions and ends its running invocations. */
function deleteDeployment(app: ApiServer, { store, apps }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/deployments/:id',
    schema: { operationId: 'deleteDeployment', tags, params: IdParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const { scope } = principalCallerOf(request);
      const { id } = requireFound(await store.deployments.find(scope, request.params.id), NOT_FOUND);
      await store.deployments.end(id, 'stopped', null);
      await apps.cancel('deployment', id);
      for (const invocationId of await store.invocations.unfinishedOf(id))
        await apps.cancel('invocation', invocationId);
      return reply.code(204).send();
    },
  });
}

/** The stored part of a program's source, without the credentials of its download. */
function repositoryOf({ url, ref, path = '' }: GithubSource): Repository {
  return { url, ref, ...(path === '' ? {} : { path }) };
}

function present(record: DeploymentRecord, envVars: Record<string, string>): Deployment {
  const { statusReason, repository } = record;
  return {
    id: record.id,
    created_at: record.createdAt.toISOString(),
    updated_at: record.updatedAt.toISOString(),
    region: APP_REGION,
    status: record.status,
    ...(statusReason === null ? {} : { status_reason: statusReason }),
    entrypoint_rel_path: record.entrypoint,
    env_vars: envVars,
    source_type: repository === null ? 'file' : 'github',
    source_checksum: record.checksum,
    ...omitUndefined({ source_url: repository?.url, source_ref: repository?.ref, source_path: repository?.path }),
  };
}

function presentEvent(record: DeploymentRecord, { at, body }: AppEvent, envVars: Record<string, string>) {
  const timestamp = at.toISOString();
  switch (body.event) {
    case 'log':
      return { event: 'log', timestamp, message: body.message };
    case 'app_version_summary':
      return { event: 'app_version_summary', timestamp, region: APP_REGION, ...body.version, env_vars: envVars };
    case 'state': {
      const status = DeploymentStatus.parse(body.status);
      const deployment = present({ ...record, status, statusReason: body.reason ?? null, updatedAt: at }, envVars);
      return { event: 'deployment_state', timestamp, deployment };
    }
  }
}
