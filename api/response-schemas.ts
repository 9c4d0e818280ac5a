import { z } from 'zod';
import type { FastifyContextConfig } from 'fastify';

/** The body of every error response (interface.md, "Errors"). */
export const ErrorBody = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    details: z.array(z.strictObject({ code: z.string(), message: z.string() })).optional(),
    inner_error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    existing_id: z.string().optional(),
  })
  .describe('Error');

/** Error responses of a route besides its {@link commonErrorStatuses}, for its schema and the OpenAPI document. */
export function errorResponses<const Status extends number>(...statuses: Status[]): Record<Status, typeof ErrorBody> {
  const entries = statuses.map((status) => [status, ErrorBody] as const);
  return Object.fromEntries(entries) as Record<Status, typeof ErrorBody>;
}

/** The properties of a route that determine the errors it may return before its handler runs. */
interface RouteOutline {
  method: string | string[];
  access: FastifyContextConfig['access'];
}

/**
 * Error statuses that any route may return: malformed input, rate limits, internal faults and an unavailable store; invalid or
 * insufficient credentials and missing projects; and bodies that are too large or not JSON.
 */
export function commonErrorStatuses({ method, access = 'api_key' }: RouteOutline): number[] {
  const credentialErrors = access === 'public' ? [] : [401, 403, 404];
  const bodyErrors = [method].flat().some((one) => one !== 'GET' && one !== 'HEAD') ? [413, 415] : [];
  // The token's flow was replaced by a newer one.
  const flowErrors = access === 'hosted' ? [410] : [];
  return [400, ...credentialErrors, ...flowErrors, ...bodyErrors, 429, 500, 503];
}

/** A response without a body. */
export const NoContent = z.undefined().describe('No body');

/** A response of server-sent events. */
export const EventStreamResponse = {
  description: 'Server-sent events',
  content: { 'text/event-stream': { schema: z.string() } },
} as const;

/** Binary content: a string in the OpenAPI document, a buffer in handlers. */
export const BinaryContent = z.unknown().meta({ type: 'string', format: 'binary' });

/** `{id}` in a path. */
export const IdParams = z.object({ id: z.string().min(1).max(200) });

/** `{id_or_name}` in a path: percent-encoded, so it may contain slashes and any script. */
export const IdOrNameParams = z.object({ id_or_name: z.string().min(1).max(255) });
