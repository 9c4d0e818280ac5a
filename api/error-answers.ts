import type { FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { HoldfastError, type ErrorDetail } from '../contract/errors.ts';
import type { ApiLogger } from './context.ts';

/** Seconds that a caller waits before it asks again, when the error itself names none. */
const DEFAULT_RETRY_AFTER_S = { rate_limited: 1, unavailable: 2, capacity_exhausted: 10 } as const;

/** Most entries of `details`: a body of a thousand wrong properties needs no answer of a thousand lines. */
const MAX_DETAILS = 50;

/** Turns whatever was thrown into one of our errors. What is not known becomes `internal_error` without a detail. */
export function toHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return invalidInput(error.validation);
  const { code, statusCode } = frameworkErrorOf(error);
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HoldfastError('payload_too_large', 'the body is larger than 1 MiB');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return new HoldfastError('unsupported_media_type', 'send the body as `Content-Type: application/json`');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HoldfastError('bad_request', 'the body is not as long as Content-Length says');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_ASYNC_CONSTRAINT':
      return new HoldfastError('bad_request', 'the path is not valid percent-encoding');
    case 'FST_ERR_MAX_PARAM_LENGTH':
    case 'FST_ERR_PARAM_LENGTH':
      return new HoldfastError('bad_request', 'a part of the path is too long');
    default:
      return statusCode >= 400 && statusCode < 500
        ? new HoldfastError('bad_request', 'the request is malformed; a body must be one JSON value')
        : new HoldfastError('internal_error', 'something went wrong inside Holdfast');
  }
}

/** Sends an error in the one body shape, with the headers that tell a client whether and when to try again. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, logger: ApiLogger): void {
  const known = toHoldfastError(error);
  if (known.code === 'internal_error') {
    logger.error(
      { request_id: request.id, method: request.method, route: request.routeOptions.url ?? '', ...describe(error) },
      'request failed',
    );
  }
  void withRetryHeaders(reply, known).code(known.status).type('application/json').serializer(JSON.stringify);
  void reply.send(known.toBody());
}

function withRetryHeaders(reply: FastifyReply, error: HoldfastError): FastifyReply {
  if (error.status === 401) void reply.header('www-authenticate', 'Bearer');
  // Clients try 409 again unless told otherwise; ours are final.
  if (error.status === 409) void reply.header('x-should-retry', 'false');
  const fallback = Object.entries(DEFAULT_RETRY_AFTER_S).find(([code]) => code === error.code)?.[1];
  const seconds = error.retryAfterSeconds ?? fallback;
  if (seconds !== undefined) void reply.header('retry-after', String(Math.ceil(seconds)));
  return reply;
}

interface Issue {
  instancePath: string;
  message?: string | undefined;
  params: Record<string, unknown>;
}

function invalidInput(issues: readonly Issue[]): HoldfastError {
  const details = issues.flatMap(detailsOf).slice(0, MAX_DETAILS);
  return new HoldfastError('invalid_input', details[0]?.message ?? 'the input breaks a rule', { details });
}

function detailsOf(issue: Issue): ErrorDetail[] {
  const path = issue.instancePath.split('/').filter((part) => part !== '');
  const unknown = issue.params['keys'];
  if (Array.isArray(unknown)) {
    return unknown.map((key) => ({
      code: 'unknown_property',
      message: `${[...path, cut(String(key))].join('.')}: is not a known property`,
    }));
  }
  const field = path.length === 0 ? 'body' : path.map(cut).join('.');
  return [{ code: 'invalid_input', message: `${field}: ${issue.message ?? 'breaks a rule'}` }];
}

/** A name that the caller made up, short enough to repeat. */
function cut(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}

function frameworkErrorOf(error: unknown): { code: string; statusCode: number } {
  if (!(error instanceof Error)) return { code: '', statusCode: 500 };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const statusCode = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  return { code, statusCode };
}

/** What may be logged of a foreign error: its kind and where it happened. Its message may quote a caller's data. */
function describe(error: unknown): { error_name: string; error_code: string; frames: string[] } {
  if (!(error instanceof Error)) return { error_name: typeof error, error_code: '', frames: [] };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    error_name: error.name,
    error_code: frameworkErrorOf(error).code,
    frames: frames.slice(0, 8).map((line) => line.trim()),
  };
}
