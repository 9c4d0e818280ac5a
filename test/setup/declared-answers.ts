import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { commonErrorStatuses, ErrorBody } from '../../api/response-schemas.ts';
import { BROWSER_POOL_ROUTES } from '../../contract/browser-pool-routes.ts';
import { BROWSER_ROUTES, type BrowserRoute } from '../../contract/browser-routes.ts';
import { ERROR_CODES, isErrorCode } from '../../contract/errors.ts';

/**
 * Checks every response of a service in this process against the declaration of its route, with hooks that each service gets
 * on creation: the status is declared, an error has the shape and code of its status, and JSON matches the schema. A test that
 * saw a violation fails.
 */
const violations = new Set<string>();

const CREATED = 'fastify.initialization';
const checkResponses: ChannelListener = (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onSend', (request, reply, payload, done) => {
    checkResponse(request, reply, typeof payload === 'string' ? payload : null);
    done(null, payload);
  });
  // For streams, which take over their socket.
  fastify.addHook('onResponse', (request, reply, done) => {
    checkResponse(request, reply, null);
    done();
  });
};
beforeAll(() => subscribe(CREATED, checkResponses));
afterAll(() => void unsubscribe(CREATED, checkResponses));

afterEach(() => {
  const seen = [...violations];
  violations.clear();
  expect(seen, 'responses that the OpenAPI document does not declare').toEqual([]);
});

const BROWSER_SERVICE_ROUTES = new Map(
  Object.values<BrowserRoute>({ ...BROWSER_ROUTES, ...BROWSER_POOL_ROUTES }).map((route) => [
    `${route.method} ${route.url}`,
    route,
  ]),
);

function checkResponse(request: FastifyRequest, reply: FastifyReply, body: string | null): void {
  const { method, routeOptions } = request;
  const { schema, config, url = '' } = routeOptions;
  const name = `${method === 'HEAD' ? 'GET' : method} ${url}`;
  const { statusCode } = reply;
  const browserRoute = BROWSER_SERVICE_ROUTES.get(name);
  const declaredSchemas: unknown = schema?.hide === true ? undefined : schema?.response;
  if (browserRoute === undefined && declaredSchemas === undefined) return;
  const schemas = declaredSchemas === undefined ? {} : Schemas.parse(declaredSchemas);
  // Routes of the browser service declare no errors; the contract is checked instead.
  const isOfBrowserService = browserRoute !== undefined && schemas[500] === undefined;
  const declared = isOfBrowserService
    ? [
        browserRoute.status,
        browserRoute.emptyStatus,
        ...browserRoute.refusals,
        ...commonErrorStatuses({ method, access: config.access }),
      ]
    : Object.keys(schemas).map(Number);
  if (!declared.includes(statusCode)) {
    violations.add(`${name} ${statusCode} ${body?.slice(0, 200) ?? ''}`);
    return;
  }
  if (body === null || body === '' || !String(reply.getHeader('content-type')).startsWith('application/json')) return;
  const json: unknown = JSON.parse(body);
  const isError = statusCode >= 400 && (schemas[statusCode] ?? ErrorBody) === ErrorBody;
  const parsed = (isError ? ErrorBody : (schemas[statusCode] ?? z.unknown())).safeParse(json);
  if (!parsed.success) violations.add(`${name} ${statusCode}: ${z.prettifyError(parsed.error)}`);
  if (!isError || !parsed.success) return;
  const { code } = ErrorBody.parse(json);
  if (!isErrorCode(code) || ERROR_CODES[code].status !== statusCode) violations.add(`${name} ${statusCode} ${code}`);
}

/** Streams and files are not described by zod schemas. */
const Schemas = z.record(
  z.string(),
  z.custom<z.ZodType>().transform((one) => (one instanceof z.ZodType ? one : z.unknown())),
);
