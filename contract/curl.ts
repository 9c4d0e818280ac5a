import { z } from 'zod';

/** Longest that a request may take, in milliseconds. */
const MAX_TIMEOUT_MS = 300_000;

/** Headers that belong to the connection, which is the browser's. */
export const CONNECTION_HEADERS =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i;

const Url = z.string().min(1).max(8192);
const Headers = z
  .record(
    z
      .string()
      .max(256)
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be names of headers')
      .refine((name) => !CONNECTION_HEADERS.test(name), 'must not be headers of the connection: the browser sets them'),
    z
      .string()
      .max(16_384)
      .regex(/^[\t\x20-\x7e]*$/, 'must be one line of ASCII'),
  )
  .refine((headers) => Object.keys(headers).length <= 100, 'must be at most 100');

/** How long it may take when nobody says, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

const Timeout = z.int().min(1).max(MAX_TIMEOUT_MS);

/** Body of `curl`: one request that the session's browser makes. */
export const Curl = z.strictObject({
  url: Url,
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
  headers: Headers.default({}),
  body: z.string().optional(),
  response_encoding: z.enum(['utf8', 'base64']).default('utf8'),
  timeout_ms: Timeout.default(DEFAULT_TIMEOUT_MS),
});
export type Curl = z.infer<typeof Curl>;

/** Answer of `curl`: what came at the end of all redirects. Names of headers are in lower case. */
export const CurlResult = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.array(z.string())),
  body: z.string(),
  duration_ms: z.int(),
});
export type CurlResult = z.infer<typeof CurlResult>;

/** Query of `curl/raw`, whose method, headers and body are those of the request itself. */
export const CurlRawQuery = z.object({
  url: Url,
  timeout_ms: z.coerce.number().default(DEFAULT_TIMEOUT_MS).pipe(Timeout),
});
