import { z } from 'zod';

/** The error body of every refusal (interface.md, "Errors"). */
const ErrorBody = z
  .object({
    code: z.string(),
    message: z.string(),
    details: z.array(z.object({ code: z.string(), message: z.string() })).optional(),
    inner_error: z.object({ code: z.string(), message: z.string() }).optional(),
    existing_id: z.string().optional(),
  })
  .describe('Error');

/** Error answers of a route, for its schema and the OpenAPI document. 401, 429 and 500 may come from every route. */
export function refusals<const Status extends number>(
  ...statuses: Status[]
): Record<Status | '4xx' | '5xx', typeof ErrorBody> {
  const entries = [...statuses.map(String), '4xx', '5xx'].map((status) => [status, ErrorBody] as const);
  return Object.fromEntries(entries) as Record<Status | '4xx' | '5xx', typeof ErrorBody>;
}

/** An answer without a body. */
export const NoContent = z.undefined().describe('No body');

/** `{id}` in a path. */
export const IdParams = z.object({ id: z.string().min(1).max(200) });

/** `{id_or_name}` in a path: percent-encoded, so it may hold slashes and any script. */
export const IdOrNameParams = z.object({ id_or_name: z.string().min(1).max(255) });
