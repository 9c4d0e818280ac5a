import type { FastifyError, FastifyInstance } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { ErrorCode, ErrorDetail } from '../../contract/errors.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Logger } from '../logger.ts';

/** Faults that Fastify itself finds in a request, by HTTP status. */
const CODE_OF_STATUS: Record<number, ErrorCode> = {
  400: 'bad_request',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
};

/** Every error leaves in the interface's body, from the code registry; foreign errors say nothing of themselves. */
export function registerErrors(app: FastifyInstance, logger: Logger): void {
  app.setErrorHandler((error: FastifyError | HoldfastError, request, reply) => {
    const known = toHoldfastError(error);
    if (known.status >= 500 && known.code !== 'capacity_exhausted' && known.code !== 'not_implemented') {
      logger.error({ code: known.code, route: request.routeOptions.url, kind: error.name }, 'request failed');
    }
    if (known.retryAfterSeconds !== undefined) reply.header('retry-after', String(known.retryAfterSeconds));
    // Clients retry 409 and 5xx by themselves: these two will answer the same again.
    if (known.status === 409 || known.code === 'not_implemented') reply.header('x-should-retry', 'false');
    return reply.code(known.status).send(known.toBody());
  });
  app.setNotFoundHandler((request, reply) => {
    const error = new HoldfastError('not_found', `There is no operation ${request.method} at this path`);
    return reply.code(error.status).send(error.toBody());
  });
}

function toHoldfastError(error: FastifyError | HoldfastError): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const details = error.validation.map((issue): ErrorDetail => {
      const keys = issue.params.keys;
      const unknown = Array.isArray(keys) ? keys.map(String) : [];
      const place = issue.instancePath.replace(/^\//, '').replaceAll('/', '.');
      const field =
        [place, ...unknown.slice(0, 1)].filter((part) => part !== '').join('.') || (error.validationContext ?? 'body');
      return {
        code: unknown.length > 0 ? 'unknown_property' : issue.keyword,
        message: `${field}: ${issue.message ?? 'invalid'}`,
      };
    });
    return new HoldfastError('invalid_input', details[0]?.message ?? 'A field breaks a rule', { details });
  }
  const code = CODE_OF_STATUS[error.statusCode ?? 500];
  if (code === undefined) return new HoldfastError('internal_error', 'The browser service failed');
  return new HoldfastError(code, code === 'bad_request' ? 'The body is not valid JSON' : error.message);
}
