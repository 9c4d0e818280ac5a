import { z } from 'zod';
import type { FastifyContextConfig } from 'fastify';

/** The error body of every refusal (interface.md, "Errors"). */
export const ErrorBody = z
  .strictObject({
    code: z.string(),
    message: z.string(),
    details: z.array(z.strictObject({ code: z.string(), message: z.string() })).optional(),
    inner_error: z.strictObject({ code: z.string(), message: z.string() }).optional(),
    existing_id: z.string().optional(),
  })
  .describe('Error');

/** Error answers of a route beside its {@link commonErrorStatuses}, for its schema and the OpenAPI document. */
export function errorResponses<const Status extends number>(...statuses: Status[]): Record<Status, typeof ErrorBody> {
  const entries = statuses.map((status) => [status, ErrorBody] as const);
  return Object.fromEntries(entries) as Record<Status, typeof ErrorBody>;
}

/** What of a route decides how it may refuse a request before its handler is asked. */
export interface RouteOutline {
  method: string | string[];
  access: FastifyContextConfig['access'];
}

/**
 * Statuses that a route may refuse with whatever it does: malformed text, too many calls, a fault, a store that is away; a
 * credential that is wrong, may not do this, or is for a project that is not there; and a body that is too large or no JSON.
 */
export function commonErrorStatuses({ method, access = 'api_key' }: RouteOutline): number[] {
  const ofCredential = access === 'public' ? [] : [401, 403, 404];
  const ofBody = [method].flat().some((one) => one !== 'GET' && one !== 'HEAD') ? [413, 415] : [];
  // The token of a flow that a newer one has replaced.
  const ofFlow = access === 'hosted' ? [410] : [];
  return [400, ...ofCredential, ...ofFlow, ...ofBody, 429, 500, 503];
}

/** An answer without a body. */
export const NoContent = z.undefined().describe('No body');

/** An answer of server-sent events. */
export const EventStreamAnswer = {
  description: 'Server-sent events',
  content: { 'text/event-stream': { schema: z.string() } },
} as const;

/** `{id}` in a path. */
export const IdParams = z.object({ id: z.string().min(1).max(200) });

/** `{id_or_name}` in a path: percent-encoded, so it may hold slashes and any script. */
export const IdOrNameParams = z.object({ id_or_name: z.string().min(1).max(255) });
