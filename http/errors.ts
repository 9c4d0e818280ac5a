import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HTTPMethod } from 'find-my-way';
import findMyWay from 'find-my-way';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { HoldfastError, type ErrorCode, type ErrorDetail } from '../contract/errors.ts';

/** Seconds that a caller waits before it asks again, when the error itself names none. */
const DEFAULT_RETRY_AFTER_S: Partial<Record<ErrorCode, number>> = {
  rate_limited: 1,
  unavailable: 2,
  capacity_exhausted: 10,
};
/** Errors of 500 and above that are an answer and no fault: they are not logged. */
const EXPECTED: ReadonlySet<ErrorCode> = new Set(['capacity_exhausted', 'not_implemented', 'unavailable']);
/** Most entries of `details`: a body of a thousand wrong properties needs no answer of a thousand lines. */
const MAX_DETAILS = 50;
/** Methods of operations; what else HTTP knows is not for callers. */
const METHODS: readonly HTTPMethod[] = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
/** Longest part of a path that is looked up, in characters. */
const MAX_PATH_PART = 512;
/** Longest name or path of a caller's own that a message repeats, in characters. */
const MAX_REPEATED = 100;

/** What of a failed request is logged: no URL, header, body, name or foreign error message. */
export type FailureFields = {
  request_id: string;
  method: string;
  /** The matched route pattern, not the path: a path may hold the names of credentials. */
  route: string;
  code: ErrorCode;
  error_name: string;
  error_code: string;
  /** Places in our code (`file:line`), without messages. */
  frames: string[];
};

/** The part of a pino logger that a failed request needs. */
export interface FailureLogger {
  error(fields: FailureFields, message: string): void;
}

/**
 * Answers every error of a service in the interface's body, from the code registry; foreign errors say nothing of themselves.
 * Register before the routes: a known path that is called by another method is told from an unknown one.
 */
export function answerErrors(app: FastifyInstance, logger: FailureLogger): void {
  const methodsAt = recordRoutes(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, logger));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = methodsAt(path);
    const called = `${request.method} ${shorten(path)}`;
    if (methods.length === 0) throw new HoldfastError('not_found', `Route not found: ${called}`);
    const allowed = methods.join(', ');
    const refusal = new HoldfastError('method_not_allowed', `Method not allowed: ${called}; use ${allowed}`);
    return answerError(refusal, request, reply.header('allow', allowed), logger);
  });
}

/** Keeps which methods each path has, without the routes that take every path. */
function recordRoutes(app: FastifyInstance): (path: string) => HTTPMethod[] {
  const routes = findMyWay({ maxParamLength: MAX_PATH_PART });
  const known = new Set<HTTPMethod>();
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat().flatMap((one) => METHODS.find((known) => known === one) ?? [])) {
      if (url.endsWith('*') || routes.hasRoute(name, url)) continue;
      routes.on(name, url, () => undefined);
      known.add(name);
    }
  });
  return (path) => {
    try {
      return [...known].filter((method) => routes.find(method, path) !== null).toSorted();
    } catch {
      // Not valid percent-encoding.
      return [];
    }
  };
}

/** Sends an error in the one body shape, with the headers that tell a client whether and when to try again. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: FailureLogger,
): FastifyReply {
  const known = toHoldfastError(error);
  if (known.status >= 500 && !EXPECTED.has(known.code)) {
    const { id, method, routeOptions } = request;
    const fields = { request_id: id, method, route: routeOptions.url ?? '', code: known.code, ...describe(error) };
    logger.error(fields, 'request failed');
  }
  return reply
    .headers(errorHeaders(known))
    .code(known.status)
    .type('application/json')
    .serializer(JSON.stringify)
    .send(known.toBody());
}

/** Turns whatever was thrown into one of our errors. What is not known becomes `internal_error` without a detail. */
export function toHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    return invalidInput(
      error.validation.map(({ instancePath, message, params }) => ({
        path: instancePath.split('/').filter((part) => part !== ''),
        message,
        unknown: params['keys'],
      })),
    );
  }
  const { code, statusCode } = frameworkErrorOf(error);
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HoldfastError('payload_too_large', 'The body is larger than 1 MiB');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return new HoldfastError('unsupported_media_type', 'Send the body as `Content-Type: application/json`');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HoldfastError('bad_request', 'The body is not as long as Content-Length says');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new HoldfastError('bad_request', 'The path is not valid percent-encoding');
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_PARAM_LENGTH':
      return new HoldfastError('bad_request', 'A part of the path is too long');
    default:
      return statusCode >= 400 && statusCode < 500
        ? new HoldfastError('bad_request', 'The request is malformed; a body must be one JSON value')
        : new HoldfastError('internal_error', 'Holdfast failed; try again, and report it if it stays');
  }
}

/** Headers that tell a client whether and when to try again. */
export function errorHeaders({ code, status, retryAfterSeconds }: HoldfastError): Record<string, string> {
  const seconds = retryAfterSeconds ?? DEFAULT_RETRY_AFTER_S[code];
  return {
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    // Clients retry 409 and 5xx by themselves: these two will answer the same again.
    ...(status === 409 || code === 'not_implemented' ? { 'x-should-retry': 'false' } : {}),
    ...(seconds === undefined ? {} : { 'retry-after': String(Math.ceil(seconds)) }),
  };
}

/** What was sent, as a schema reads it. Throws `invalid_input` with a detail for each rule that it breaks. */
export function readInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw invalidInput(
    read.error.issues.map(({ path, message, ...issue }) => ({
      path: path.map(String),
      message,
      unknown: issue.code === 'unrecognized_keys' ? issue.keys : undefined,
    })),
  );
}

interface Issue {
  path: string[];
  message?: string | undefined;
  /** Names of properties that nobody knows. */
  unknown: unknown;
}

function invalidInput(issues: readonly Issue[]): HoldfastError {
  const details = issues.flatMap(detailsOf).slice(0, MAX_DETAILS);
  return new HoldfastError('invalid_input', details[0]?.message ?? 'The input breaks a rule', { details });
}

function detailsOf({ path, unknown, ...issue }: Issue): ErrorDetail[] {
  if (Array.isArray(unknown)) {
    return unknown.map((key) => ({
      code: 'unknown_property',
      message: `${[...path, shorten(String(key))].join('.')}: is not a known property`,
    }));
  }
  const field = path.length === 0 ? 'body' : path.map(shorten).join('.');
  return [{ code: 'invalid_input', message: `${field}: ${issue.message ?? 'breaks a rule'}` }];
}

/** A name that the caller made up, short enough to repeat. */
function shorten(name: string): string {
  return name.length > MAX_REPEATED ? `${name.slice(0, MAX_REPEATED)}…` : name;
}

function frameworkErrorOf(error: unknown): { code: string; statusCode: number } {
  if (!(error instanceof Error)) return { code: '', statusCode: 500 };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const statusCode = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  return { code, statusCode };
}

/** What may be logged of a foreign error: its kind and where it happened. Its message may quote a caller's data. */
function describe(error: unknown): Pick<FailureFields, 'error_name' | 'error_code' | 'frames'> {
  if (!(error instanceof Error)) return { error_name: typeof error, error_code: '', frames: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error_name: error.name,
    error_code: frameworkErrorOf(error).code,
    frames: frames.slice(0, 8).map((line) => line.trim()),
  };
}
