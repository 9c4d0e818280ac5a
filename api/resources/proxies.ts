import { z } from 'zod';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { Proxy, ProxyCheck, ProxyCreate, type ProxyStatus, ProxyUpdate } from '../../contract/proxies.ts';
import type { ProxyRecord } from '../../store/queries/proxies.ts';
import type { Scope } from '../../store/scope.ts';
import { IdOrNameParams, NoContent } from '../response-schemas.ts';
import { isForbiddenHost } from '../address-rules.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import { requireFound } from '../nullish.ts';
import { pageOf, pageQuery, sendPageHeaders, queryFilter } from '../paging.ts';
import type { ApiParts } from '../parts.ts';
import { findInDefaultProject, writeScope } from '../scope.ts';

const tags = ['proxies'];
const NOT_FOUND = 'Proxy not found; check its id or name, and the project';

/** Registers callers' own proxies. Passwords are sealed, and no response ever contains one. */
export function registerProxies(app: ApiServer, parts: ApiParts): void {
  createProxy(app, parts);
  listProxies(app, parts);
  retrieveProxy(app, parts);
  updateProxy(app, parts);
  deleteProxy(app, parts);
  checkProxyRoute(app, parts);
}

/** `POST /proxies`: stores a proxy and seals its password. */
function createProxy(app: ApiServer, { store, addressPolicy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/proxies',
    schema: { operationId: 'createProxy', tags, body: ProxyCreate, response: { 201: Proxy } },
    handler: async (request, reply) => {
      const { name, protocol, bypass_hosts: bypassHosts, config } = request.body;
      // A hostname is checked at each connection, when it resolves.
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
  query: queryFilter(260).describe('Part of the name or of the host, in any case, or the whole id'),
  ...pageQuery,
});

/** `GET /proxies`: newest first, a bare array with paging headers. */
function listProxies(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/proxies',
    schema: { operationId: 'listProxies', tags, querystring: Query, response: { 200: z.array(Proxy) } },
    handler: async (request, reply) => {
      const { name, query } = request.query;
      const paging = pageOf(request.query);
      const filter = omitUndefined({ name, query });
      const page = await store.proxies.list(principalCallerOf(request).scope, { ...paging, ...filter });
      return sendPageHeaders(reply, paging, page).map(presentProxy);
    },
  });
}

/** `GET /proxies/{id or name}`. */
function retrieveProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/proxies/:id_or_name',
    schema: { operationId: 'retrieveProxy', tags, params: IdOrNameParams, response: { 200: Proxy } },
    handler: async (request) =>
      presentProxy(await findProxy(store, principalCallerOf(request).scope, request.params.id_or_name)),
  });
}

/** `PATCH /proxies/{id or name}`: renames it. References use the id, so nothing else changes. */
function updateProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'PATCH',
    url: '/proxies/:id_or_name',
    schema: { operationId: 'updateProxy', tags, params: IdOrNameParams, body: ProxyUpdate, response: { 200: Proxy } },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      const { id } = await findProxy(store, scope, request.params.id_or_name);
      return presentProxy(requireFound(await store.proxies.rename(scope, id, request.body.name), NOT_FOUND));
    },
  });
}

/**
 * `DELETE /proxies/{id or name}`: destroys the password. Running sessions keep using the proxy. Connections keep the reference, so
 * that their logins fail with a reason instead of using another route.
 */
function deleteProxy(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'DELETE',
    url: '/proxies/:id_or_name',
    schema: { operationId: 'deleteProxy', tags, params: IdOrNameParams, response: { 204: NoContent } },
    handler: async (request, reply) => {
      const { scope } = principalCallerOf(request);
      const { id } = await findProxy(store, scope, request.params.id_or_name);
      requireFound(await store.proxies.remove(scope, id), NOT_FOUND);
      return reply.code(204).send();
    },
  });
}

/**
 * `POST /proxies/{id or name}/check`: loads a page through the proxy. The result is stored only without `url`, since with it the
 * target may be at fault.
 */
function checkProxyRoute(app: ApiServer, { store, checkProxy }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/proxies/:id_or_name/check',
    schema: { operationId: 'checkProxy', tags, params: IdOrNameParams, body: ProxyCheck, response: { 200: Proxy } },
    handler: async (request) => {
      const { scope } = principalCallerOf(request);
      const record = await findProxy(store, scope, request.params.id_or_name);
      const { id } = record;
      const opened = await store.proxies.open(record.projectId, { id });
      const proxy = requireFound(opened.outcome === 'found' && opened.proxy, NOT_FOUND);
      const url = request.body?.url;
      const status: ProxyStatus = (await checkProxy(proxy, url)) ? 'available' : 'unavailable';
      if (url !== undefined) return { ...presentProxy(record), status };
      const checked = requireFound(await store.proxies.recordCheck(scope, id, status), NOT_FOUND);
      return presentProxy(checked);
    },
  });
}

/** The proxy with this id or, if it is unambiguous, this name; names are not unique. */
async function findProxy(store: ApiParts['store'], scope: Scope, wanted: string): Promise<ProxyRecord> {
  const proxy = await findInDefaultProject(store, scope, async (within) => {
    const byId = await store.proxies.find(within, wanted);
    if (byId !== null) return byId;
    const { rows } = await store.proxies.list(within, { name: wanted, limit: 2, offset: 0 });
    if (rows.length > 1) throw new HoldfastError('bad_request', 'Several proxies have this name; use the id');
    return rows[0] ?? null;
  });
  return requireFound(proxy, NOT_FOUND);
}

/** The public representation: never the password. */
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
