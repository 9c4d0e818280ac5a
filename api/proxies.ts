import { z } from 'zod';
import { invalidField } from '../contract/errors.ts';
import { Proxy, ProxyCheck, ProxyCreate, type ProxyStatus, ProxyUpdate } from '../contract/proxies.ts';
import type { ProxyRecord } from '../store/queries/proxies.ts';
import { IdParams, NoContent } from './answer-schemas.ts';
import { isForbiddenHost } from './auth-connections/address-rules.ts';
import { principalCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import { defined } from './defined.ts';
import { found } from './found.ts';
import { pageOf, pageQuery, sendPageHeaders } from './pages.ts';
import type { ApiParts } from './parts.ts';
import { writeScope } from './scope.ts';

const tags = ['proxies'];
const NOT_FOUND = 'Proxy not found; check its id and the project';

/** Proxies of the caller's own: their passwords are sealed, and no answer ever shows one. */
export function registerProxies(app: ApiServer, parts: ApiParts): void {
  createProxy(app, parts);
  listProxies(app, parts);
  retrieveProxy(app, parts);
  updateProxy(app, parts);
  deleteProxy(app, parts);
  checkProxyRoute(app, parts);
}

/** `POST /proxies`: keeps a proxy of the caller's own; its password is sealed and no answer ever shows it. */
function createProxy(app: ApiServer, { store, addressPolicy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/proxies',
    schema: {
      operationId: 'createProxy',
      tags,
      body: ProxyCreate,
      response: { 201: Proxy },
    },
    handler: async (request, reply) => {
      const { name, protocol, bypass_hosts: bypassHosts, config } = request.body;
      // A name is checked when it resolves, at each connection.
      if (isForbiddenHost(addressPolicy, config.host, config.port)) {
        throw invalidField('config.host', 'is a private address; the operator can list it as an allowed host');
      }
      const scope = await writeScope(store, principalCallerOf(request).scope);
      const record = await store.proxies.create(scope, {
        name: name ?? null,
        protocol,
        host: config.host,
        port: config.port,
        username: config.username ?? null,
        password: config.password ?? null,
        bypassHosts: bypassHosts ?? [],
      });
      return reply.code(201).send(presentProxy(record));
    },
  });
}

const Query = z.object({
  name: z.string().max(255).optional().describe('The whole name'),
  query: z.string().max(260).optional().describe('Part of the name or of the host, in any case, or the whole id'),
  ...pageQuery,
});

/** `GET /proxies`: newest first, a bare array with paging headers. */
function listProxies(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/proxies',
    schema: {
      operationId: 'listProxies',
      tags,
      querystring: Query,
      response: { 200: z.array(Proxy) },
    },
    handler: async (request, reply) => {
      const { name, query } = request.query;
      const asked = pageOf(request.query);
      const filter = defined({ name, query: query === '' ? undefined : query });
      const page = await store.proxies.list(principalCallerOf(request).scope, { ...asked, ...filter });
      sendPageHeaders(reply, asked, page);
      return page.rows.map(presentProxy);
    },
  });
}

/** `GET /proxies/{id}`. Names are not unique, so no path calls a proxy by one. */
function retrieveProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/proxies/:id',
    schema: {
      operationId: 'retrieveProxy',
      tags,
      params: IdParams,
      response: { 200: Proxy },
    },
    handler: async (request) => {
      const record = found(await store.proxies.find(principalCallerOf(request).scope, request.params.id), NOT_FOUND);
      return presentProxy(record);
    },
  });
}

/** `PATCH /proxies/{id}`: a new name. What refers to the proxy refers to its id, so nothing else changes. */
function updateProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/proxies/:id',
    schema: {
      operationId: 'updateProxy',
      tags,
      params: IdParams,
      body: ProxyUpdate,
      response: { 200: Proxy },
    },
    handler: async (request) => {
      const renamed = found(
        await store.proxies.rename(principalCallerOf(request).scope, request.params.id, request.body.name),
        NOT_FOUND,
      );
      return presentProxy(renamed);
    },
  });
}

/**
 * `DELETE /proxies/{id}`: destroys the password. Sessions that run keep their way out. Connections keep the reference, so
 * that their logins fail with a reason and never go out by another way than the one that was chosen.
 */
function deleteProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/proxies/:id',
    schema: {
      operationId: 'deleteProxy',
      tags,
      params: IdParams,
      response: { 204: NoContent },
    },
    handler: async (request, reply) => {
      const removed = await store.proxies.remove(principalCallerOf(request).scope, request.params.id);
      found(removed, NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/**
 * `POST /proxies/{id}/check`: asks for a page through the proxy. Without `url` what is found is kept; with it, it is only
 * answered: the fault may be the target's.
 */
function checkProxyRoute(app: ApiServer, { store, checkProxy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/proxies/:id/check',
    schema: {
      operationId: 'checkProxy',
      tags,
      params: IdParams,
      body: ProxyCheck,
      response: { 200: Proxy },
    },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      const { id } = request.params;
      const record = found(await store.proxies.find(scope, id), NOT_FOUND);
      const opened = await store.proxies.open(record.projectId, { id });
      const proxy = found(opened.outcome === 'found' && opened.proxy, NOT_FOUND);
      const url = request.body?.url;
      const status: ProxyStatus = (await checkProxy(proxy, url)) ? 'available' : 'unavailable';
      if (url !== undefined) return { ...presentProxy(record), status };
      const checked = found(await store.proxies.recordCheck(scope, id, status), NOT_FOUND);
      return presentProxy(checked);
    },
  });
}

/** A proxy as it is answered: where it is and what its last check found, never its password. */
function presentProxy(record: ProxyRecord): Proxy {
  return {
    id: record.id,
    ...(record.name === null ? {} : { name: record.name }),
    type: 'custom',
    protocol: record.protocol,
    ...(record.bypassHosts.length === 0 ? {} : { bypass_hosts: record.bypassHosts }),
    config: {
      host: record.host,
      port: record.port,
      ...(record.username === null ? {} : { username: record.username }),
      has_password: record.hasPassword,
    },
    ...(record.status === null ? {} : { status: record.status }),
    ...(record.lastCheckedAt === null ? {} : { last_checked: record.lastCheckedAt.toISOString() }),
  };
}
