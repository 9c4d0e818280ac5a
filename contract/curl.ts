import { z } from 'zod';

/** Longest timeout of a request, in milliseconds. */
const MAX_TIMEOUT_MS = 300_000;

/** Headers of the connection, which the browser sets. */
export const CONNECTION_HEADERS =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*)$/i;

const Url = z.string().min(1).max(8192);
const Headers = z
  .record(
    z
      .string()
      .max(256)
      .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be header names')
      .refine((name) => !CONNECTION_HEADERS.test(name), 'must not be connection headers: the browser sets them'),
    z
      .string()
      .max(16_384)
      .regex(/^[\t\x20-\x7e]*$/, 'must be one line of ASCII'),
  )
  .refine((headers) => Object.keys(headers).length <= 100, 'must be at most 100');

/** Default timeout, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

const Timeout = z.int().min(1).max(MAX_TIMEOUT_MS);

/** Body of `curl`: one request by the session's browser. */
export const Curl = z.strictObject({
  url: Url,
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
  headers: Headers.default({}),
  body: z.string().optional(),
  response_encoding: z.enum(['utf8', 'base64']).default('utf8'),
  timeout_ms: Timeout.default(DEFAULT_TIMEOUT_MS),
});
export type Curl = z.infer<typeof Curl>;

/** Response of `curl`, after all redirects. Header names are lower case. */
export const CurlResult = z.object({
  status: z.int(),
  headers: z.record(z.string(), z.array(z.string())),
  body: z.string(),
  duration_ms: z.int(),
});

/** Query of `curl/raw`, which forwards its own method, headers and body. */
export const CurlRawQuery = z.object({
  url: Url,
  timeout_ms: z.coerce.number().default(DEFAULT_TIMEOUT_MS).pipe(Timeout),
});
