import { z } from 'zod';

/** Longest that a request may take, in milliseconds. */
const MAX_TIMEOUT_MS = 300_000;

/** Headers that belong to the connection, which is the browser's. */
const CONNECTION_HEADERS =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i;

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

/** Body of `curl`: one request that the session's browser makes. */
export const Curl = z.strictObject({
  url: z.string().min(1).max(8192),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
  headers: Headers.default({}),
  body: z.string().optional(),
  response_encoding: z.enum(['utf8', 'base64']).default('utf8'),
  timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(30_000),
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
