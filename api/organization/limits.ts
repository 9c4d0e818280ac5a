import type { FastifyRequest } from 'fastify';
import { invalidField } from '../../contract/errors.ts';
import { defaultHealthCheckInterval, HEALTH_CHECK_INTERVAL, PLAN_IDS } from '../../contract/limits.ts';
import {
  Entitlements,
  EntitlementsUpdate,
  MAX_LIMIT,
  OrganizationLimits,
  OrganizationLimitsUpdate,
  ProjectLimits,
  ProjectLimitsUpdate,
} from '../../contract/organization-limits.ts';
import { IdOrNameParams, errorResponses } from '../response-schemas.ts';
import { principalCallerOf, organizationWideCallerOf } from '../caller.ts';
import { RECORDING_DAYS, type ApiServer, type ApiSettings } from '../context.ts';
import {
  entitlementsOf,
  requireFeature,
  requireProjects,
  type Entitlements as EntitlementsOf,
} from './entitlements.ts';
import type { ApiParts } from '../parts.ts';
import { findProject, readableProjects } from '../scope.ts';
import { createSessionCapacity, readSessionUsage } from '../browsers/session-capacity.ts';

const tags = ['limits'];

type ReadCapacity = ReturnType<typeof createSessionCapacity>;

/** Registers entitlements, and the limits on concurrent browser sessions and invocations, in total and per project. */
export function registerLimits(app: ApiServer, parts: ApiParts): void {
  const readCapacity = createSessionCapacity(parts);
  organizationLimits(app, parts, readCapacity);
  projectLimits(app, parts, readCapacity);
  entitlements(app, parts, readCapacity);
}

/** `GET` and `PATCH /org/entitlements`: the features of the plan, minus those that the owners have disabled. */
function entitlements(app: ApiServer, parts: ApiParts, readCapacity: ReadCapacity): void {
  const url = '/org/entitlements';
  const read = async (organizationId: string) => {
    const entitled = await entitlementsOf(parts, organizationId);
    const { plan, projects, auditLogExports, ...bounds } = entitled;
    const id = PLAN_IDS[plan];
    return {
      plan: { id, effective_id: id, is_trialing: false as const, status: null, trial_ends_at: null },
      features: featuresOf(entitled, parts.settings),
      limits: {
        default_max_concurrent_invocations_per_app: MAX_LIMIT,
        max_concurrent_browsers: (await readCapacity()) ?? 0,
        max_concurrent_invocations: MAX_LIMIT,
        max_vaults: 0 as const,
      },
      min_health_check_interval_seconds: bounds.minHealthCheckInterval,
      max_auth_connections: bounds.maxAuthConnections,
      projects,
      audit_log_exports: auditLogExports,
    };
  };
  app.route({
    method: 'GET',
    url,
    schema: { operationId: 'retrieveEntitlements', tags, response: { 200: Entitlements } },
    handler: (request) => read(principalCallerOf(request).scope.organizationId),
  });
  app.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateEntitlements',
      tags,
      body: EntitlementsUpdate,
      response: { 200: Entitlements, ...errorResponses(422) },
    },
    handler: async (request) => {
      const organizationId = organizationOf(request);
      const { projects } = request.body;
      if (projects === true) requireFeature(parts, 'projects', 'Projects');
      if (projects !== undefined) await parts.store.organizations.setProjectsDisabled(organizationId, !projects);
      return read(organizationId);
    },
  });
}

/** The features of this installation, by the names that clients expect. */
function featuresOf(
  { plan, minHealthCheckInterval, maxAuthConnections }: EntitlementsOf,
  { recordingDays = RECORDING_DAYS }: ApiSettings,
): Entitlements['features'] {
  const on = { enabled: true };
  const off = { enabled: false };
  return {
    browser_extensions: { ...on, max_stored_per_org: null },
    browser_pools: on,
    browser_replays: { ...on, retention_days: recordingDays },
    credential_providers: on,
    credentials: on,
    custom_proxies: on,
    file_io: on,
    gpu: off,
    managed_auth: {
      ...on,
      health_check_interval_default_seconds: defaultHealthCheckInterval(plan),
      health_check_interval_max_seconds: HEALTH_CHECK_INTERVAL.max,
      health_check_interval_min_seconds: minHealthCheckInterval,
      max_connections: maxAuthConnections,
    },
    managed_proxies: off,
    profiles: on,
    proxy_bypass_hosts: on,
    search: off,
    vaults: off,
  };
}

/** `GET` and `PATCH /org/limits`. */
function organizationLimits(app: ApiServer, parts: ApiParts, readCapacity: ReadCapacity): void {
  const { store } = parts;
  const read = async (organizationId: string) => {
    const max = await readCapacity();
    const { maxAuthConnections, minHealthCheckInterval } = await entitlementsOf(parts, organizationId);
    const usage = await readSessionUsage(parts, await readableProjects(store, { organizationId, projectId: null }));
    return {
      auth_connections_used: await store.connections.count({ organizationId, projectId: null }),
      max_auth_connections: maxAuthConnections,
      min_health_check_interval_seconds: minHealthCheckInterval,
      default_project_max_concurrent_sessions: await store.sessionLimits.defaultOf(organizationId),
      ...(max === undefined ? {} : { max_concurrent_sessions: max }),
      concurrent_sessions_used: usage?.used ?? null,
      concurrent_sessions_available: usage?.available ?? null,
      max_vaults: 0 as const,
      vaults_used: 0 as const,
    };
  };
  app.route({
    method: 'GET',
    url: '/org/limits',
    schema: { operationId: 'retrieveOrganizationLimits', tags, response: { 200: OrganizationLimits } },
    handler: (request) => read(principalCallerOf(request).scope.organizationId),
  });
  app.route({
    method: 'PATCH',
    url: '/org/limits',
    schema: {
      operationId: 'updateOrganizationLimits',
      tags,
      body: OrganizationLimitsUpdate,
      response: { 200: OrganizationLimits },
    },
    handler: async (request) => {
      const organizationId = organizationOf(request);
      const { default_project_max_concurrent_sessions: limit, max_auth_connections: connections } = request.body;
      const max = await readCapacity();
      if (limit !== undefined && limit !== null && max !== undefined && limit > max) {
        const rule = `there is room for ${String(max)} sessions in all; send at most that`;
        throw invalidField('default_project_max_concurrent_sessions', rule);
      }
      if (limit !== undefined) await store.sessionLimits.setDefaultOf(organizationId, limit === 0 ? null : limit);
      if (connections !== undefined)
        await store.organizations.setMaxAuthConnections(organizationId, connections === 0 ? null : connections);
      return read(organizationId);
    },
  });
}

/** `GET` and `PATCH /org/projects/{id or name}/limits`. */
function projectLimits(app: ApiServer, parts: ApiParts, readCapacity: ReadCapacity): void {
  const { store } = parts;
  const url = '/org/projects/:id_or_name/limits';
  const present = async (projectId: string) => ({
    max_concurrent_sessions: await store.sessionLimits.ofProject(projectId),
    max_concurrent_invocations: await store.sessionLimits.invocationsOfProject(projectId),
    max_pooled_sessions: null,
  });
  app.route({
    method: 'GET',
    url,
    schema: { operationId: 'retrieveProjectLimits', tags, params: IdOrNameParams, response: { 200: ProjectLimits } },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      await requireProjects(parts, scope.organizationId);
      return present((await findProject(store, scope, request.params.id_or_name, true)).id);
    },
  });
  app.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateProjectLimits',
      tags,
      params: IdOrNameParams,
      body: ProjectLimitsUpdate,
      response: { 200: ProjectLimits },
    },
    handler: async (request) => {
      await requireProjects(parts, organizationOf(request));
      const { body } = request;
      if (body.max_pooled_sessions !== undefined) {
        throw invalidField('max_pooled_sessions', 'browsers of pools count as sessions; send max_concurrent_sessions');
      }
      const project = await findProject(store, principalCallerOf(request).scope, request.params.id_or_name, true);
      const limit = body.max_concurrent_sessions;
      const max = typeof limit === 'number' ? await readCapacity() : undefined;
      if (max !== undefined && (limit ?? 0) > max) {
        const rule = `max_concurrent_sessions of /org/limits is ${String(max)}; send at most that`;
        throw invalidField('max_concurrent_sessions', rule);
      }
      if (limit !== undefined) await store.sessionLimits.setOfProject(project.id, limit === 0 ? null : limit);
      const invocations = body.max_concurrent_invocations;
      if (invocations !== undefined) {
        await store.sessionLimits.setInvocationsOfProject(project.id, invocations === 0 ? null : invocations);
      }
      return present(project.id);
    },
  });
}

/** The organization whose limits a request sets. Throws `forbidden` for a project's key, which would set its own. */
function organizationOf(request: FastifyRequest): string {
  const message = 'This key is for one project; set limits with an organization-wide key';
  return organizationWideCallerOf(request, message).scope.organizationId;
}
