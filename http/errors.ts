import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HTTPMethod } from 'find-my-way';
import findMyWay from 'find-my-way';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { HoldfastError, type ErrorCode, type ErrorDetail } from '../contract/errors.ts';

/** Default `Retry-After` in seconds, for errors that set none. */
const DEFAULT_RETRY_AFTER_S: Partial<Record<ErrorCode, number>> = {
  rate_limited: 1,
  unavailable: 2,
  capacity_exhausted: 10,
};
/** Errors of 500 and above that are expected. */
const NOT_LOGGED: ReadonlySet<ErrorCode> = new Set(['capacity_exhausted', 'not_implemented', 'unavailable']);
/** Maximum entries of `details`. */
const MAX_DETAILS = 50;
/** Methods of the API's operations. */
const METHODS: readonly HTTPMethod[] = ['DELETE', 'GET', 'HEAD', 'PATCH', 'POST', 'PUT'];
/** Maximum length of a path segment that is looked up. */
const MAX_PATH_PART = 512;
/** Maximum length of a caller's name or path quoted in a message. */
const MAX_QUOTED = 100;

/** The logged fields of a failed request: no URL, header, body, name or message of a foreign error. */
export type FailureFields = {
  request_id: string;
  method: string;
  /** The matched route pattern, not the path, which may contain names of credentials. */
  route: string;
  code: ErrorCode;
  error_name: string;
  error_code: string;
  /** Stack frames, without messages. */
  frames: string[];
};

/** The part of a pino logger that a failed request needs. */
export interface FailureLogger {
  error(fields: FailureFields, message: string): void;
}

/**
 * Responds to every error with the API's error body; messages of foreign errors are not exposed. Register before the routes, so that
 * a wrong method on a known path is distinguished from an unknown path.
 */
export function answerErrors(app: FastifyInstance, logger: FailureLogger): void {
  const methodsAt = recordRoutes(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, logger));
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = methodsAt(path);
    const called = `${request.method} ${truncate(path)}`;
    if (methods.length === 0) throw new HoldfastError('not_found', `Route not found: ${called}`);
    const allowed = methods.join(', ');
    const refusal = new HoldfastError('method_not_allowed', `Method not allowed: ${called}; use ${allowed}`);
    return answerError(refusal, request, reply.header('allow', allowed), logger);
  });
}

/** Records the methods of each path, except for wildcard routes. */
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

/** Sends an error body, with the headers that tell a client whether and when to retry. */
export function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: FailureLogger,
): FastifyReply {
  const known = toHoldfastError(error);
  if (known.status >= 500 && !NOT_LOGGED.has(known.code)) {
    const { id, method, routeOptions } = request;
    const fields = { request_id: id, method, route: routeOptions.url ?? '', code: known.code, ...errorFields(error) };
    logger.error(fields, 'request failed');
  }
  return reply
    .headers(errorHeaders(known))
    .code(known.status)
    .type('application/json')
    .serializer(JSON.stringify)
    .send(known.toBody());
}

/** Converts any error to a HoldfastError. Unknown ones become `internal_error` without details. */
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
      return new HoldfastError('bad_request', 'The body does not match Content-Length');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new HoldfastError('bad_request', 'The path is not valid percent-encoding');
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_PARAM_LENGTH':
      return new HoldfastError('bad_request', 'A part of the path is too long');
    default:
      return statusCode >= 400 && statusCode < 500
        ? new HoldfastError('bad_request', 'The request is malformed; a body must be one JSON value')
        : new HoldfastError('internal_error', 'Internal error; try again, and report it if it persists');
  }
}

/** Headers that tell a client whether and when to retry. */
export function errorHeaders({ code, status, retryAfterSeconds }: HoldfastError): Record<string, string> {
  const seconds = retryAfterSeconds ?? DEFAULT_RETRY_AFTER_S[code];
  return {
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    // Clients retry 409 and 5xx automatically, but these two would fail again.
    ...(status === 409 || code === 'not_implemented' ? { 'x-should-retry': 'false' } : {}),
    ...(seconds === undefined ? {} : { 'retry-after': String(Math.ceil(seconds)) }),
  };
}

/** Parses input by a schema. Throws `invalid_input` with a detail for each violation. */
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
  /** Names of unknown properties. */
  unknown: unknown;
}

function invalidInput(issues: readonly Issue[]): HoldfastError {
  const details = issues.flatMap(detailsOf).slice(0, MAX_DETAILS);
  return new HoldfastError('invalid_input', details[0]?.message ?? 'The input is invalid', { details });
}

function detailsOf({ path, unknown, ...issue }: Issue): ErrorDetail[] {
  if (Array.isArray(unknown)) {
    return unknown.map((key) => ({
      code: 'unknown_property',
      message: `${[...path, truncate(String(key))].join('.')}: is not a known property`,
    }));
  }
  const field = path.length === 0 ? 'body' : path.map(truncate).join('.');
  return [{ code: 'invalid_input', message: `${field}: ${issue.message ?? 'is invalid'}` }];
}

function truncate(name: string): string {
  return name.length > MAX_QUOTED ? `${name.slice(0, MAX_QUOTED)}…` : name;
}

function frameworkErrorOf(error: unknown): { code: string; statusCode: number } {
  if (!(error instanceof Error)) return { code: '', statusCode: 500 };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const statusCode = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  return { code, statusCode };
}

/** The fields that may be logged of a foreign error. Its message may quote the caller's data. */
function errorFields(error: unknown): Pick<FailureFields, 'error_name' | 'error_code' | 'frames'> {
  if (!(error instanceof Error)) return { error_name: typeof error, error_code: '', frames: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error_name: error.name,
    error_code: frameworkErrorOf(error).code,
    frames: frames.slice(0, 8).map((line) => line.trim()),
  };
}
