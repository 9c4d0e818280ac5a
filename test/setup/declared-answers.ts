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
const undeclared = new Set<string>();

const MADE = 'fastify.initialization';
const holdAnswers: ChannelListener = (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onSend', (request, reply, payload, done) => {
    note(request, reply, typeof payload === 'string' ? payload : null);
    done(null, payload);
  });
  // Streams take over their socket.
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

/** Bodies of streams and files are other objects. */
const Schemas = z.record(
  z.string(),
  z.custom<z.ZodType>().transform((one) => (one instanceof z.ZodType ? one : z.unknown())),
);
