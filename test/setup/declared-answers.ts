import { subscribe, unsubscribe, type ChannelListener } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { commonErrorStatuses, ErrorBody } from '../../api/response-schemas.ts';
import { BROWSER_POOL_ROUTES } from '../../contract/browser-pool-routes.ts';
import { BROWSER_ROUTES, type BrowserRoute } from '../../contract/browser-routes.ts';
import { ERROR_CODES, isErrorCode } from '../../contract/errors.ts';

/**
 * Holds every answer that a service gives in a test of this process to what its route declares, by hooks that each
 * service gets as it is made: the status is one of the route's, a refusal is of the shape and code of its status, and what
 * was sent as JSON is as the schema says. A test fails that saw another.
 */
const undeclared = new Set<string>();

const MADE = 'fastify.initialization';
const holdAnswers: ChannelListener = (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onSend', (request, reply, payload, done) => {
    note(request, reply, typeof payload === 'string' ? payload : null);
    done(null, payload);
  });
  // Streams take their socket for themselves.
  fastify.addHook('onResponse', (request, reply, done) => {
    note(request, reply, null);
    done();
  });
};
beforeAll(() => subscribe(MADE, holdAnswers));
afterAll(() => void unsubscribe(MADE, holdAnswers));

afterEach(() => {
  const seen = [...undeclared];
  undeclared.clear();
  expect(seen, 'answers that the document does not declare').toEqual([]);
});

const OF_BROWSER_SERVICE = new Map(
  Object.values<BrowserRoute>({ ...BROWSER_ROUTES, ...BROWSER_POOL_ROUTES }).map((route) => [
    `${route.method} ${route.url}`,
    route,
  ]),
);

function note(request: FastifyRequest, reply: FastifyReply, body: string | null): void {
  const { method, routeOptions } = request;
  const { schema, config, url = '' } = routeOptions;
  const name = `${method} ${url}`;
  const { statusCode } = reply;
  const browserRoute = OF_BROWSER_SERVICE.get(name);
  const described: unknown = schema?.hide === true ? undefined : schema?.response;
  if (browserRoute === undefined && described === undefined) return;
  const schemas = described === undefined ? {} : Schemas.parse(described);
  // The browser service checks by the contract alone; its routes name no refusals.
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
    undeclared.add(`${name} ${statusCode} ${body?.slice(0, 200) ?? ''}`);
    return;
  }
  if (body === null || body === '' || !String(reply.getHeader('content-type')).startsWith('application/json')) return;
  const read: unknown = JSON.parse(body);
  const isRefusal = statusCode >= 400 && (schemas[statusCode] ?? ErrorBody) === ErrorBody;
  const judged = (isRefusal ? ErrorBody : (schemas[statusCode] ?? z.unknown())).safeParse(read);
  if (!judged.success) undeclared.add(`${name} ${statusCode}: ${z.prettifyError(judged.error)}`);
  if (!isRefusal || !judged.success) return;
  const { code } = ErrorBody.parse(read);
  if (!isErrorCode(code) || ERROR_CODES[code].status !== statusCode) undeclared.add(`${name} ${statusCode} ${code}`);
}

/** Those of streams and files are objects of another kind. */
const Schemas = z.record(
  z.string(),
  z.custom<z.ZodType>().transform((one) => (one instanceof z.ZodType ? one : z.unknown())),
);
