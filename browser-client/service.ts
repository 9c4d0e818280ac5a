import type { Readable } from 'node:stream';
import { Agent, FormData, request, type Dispatcher } from 'undici';
import type { z } from 'zod';
import type { Answer } from './answers.ts';
import { parseAnswer } from './answers.ts';
import { errorForStatus, unavailable } from './errors.ts';

/** Address and API key of the browser service. */
export interface BrowserServiceSettings {
  baseUrl: string;
  apiKey: string;
}

/** One call of the browser service. Without `schema` the response body is discarded. */
export interface ServiceCall<Schema extends z.ZodType | null> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  projectId: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  content?: Buffer | Readable | FormData;
  /** In addition to the standard headers. */
  headers?: Record<string, string>;
  schema: Schema;
  signal?: AbortSignal | undefined;
  /** Overrides {@link CALL_TIMEOUT_MS}, in milliseconds. */
  timeoutMs?: number;
  /** True for streams that may be silent indefinitely. */
  endless?: boolean;
}

/** An unparsed response, for callers that handle error statuses themselves. */
interface RawAnswer {
  status: number;
  retryAfter: string | string[] | undefined;
  text: string;
}

/** A thin, typed client of the browser service: one request per call, no retries (Temporal retries). */
export interface BrowserService {
  call<Schema extends z.ZodType | null>(call: ServiceCall<Schema>): Promise<Answer<Schema>>;
  /** Like `call`, but resolves for any status; rejects only without a response. */
  exchange(call: ServiceCall<null>): Promise<RawAnswer>;
  /** Streams a response too large for memory. The caller reads or destroys the stream. */
  open(call: ServiceCall<null>): Promise<Readable>;
  close(): Promise<void>;
}

/** Timeout of one call, in milliseconds; enough for a smooth drag, or saving a large profile. */
const CALL_TIMEOUT_MS = 60_000;

/** Creates the client. It keeps connections open between calls; close it when the worker shuts down. */
export function createBrowserService(settings: BrowserServiceSettings): BrowserService {
  const dispatcher = new Agent({ connections: 64, headersTimeout: CALL_TIMEOUT_MS, bodyTimeout: CALL_TIMEOUT_MS });
  // Streams hold their connections, which would otherwise be missing for calls.
  const streams = new Agent({ headersTimeout: CALL_TIMEOUT_MS, bodyTimeout: 0 });
  const base = settings.baseUrl.replace(/\/+$/, '');
  // A response that breaks off only matters if its body is read: by the status, the operation is done.
  const exchange = async (call: ServiceCall<z.ZodType | null>, isRead: boolean): Promise<RawAnswer> => {
    const { statusCode: status, headers, body } = await send(dispatcher, base, settings.apiKey, call);
    const text = await body.text().catch(() => null);
    if (text === null && isRead && status < 400) {
      throw unavailable('The browser service’s response broke off; retry');
    }
    return { status, retryAfter: headers['retry-after'], text: text ?? '' };
  };
  return {
    async call(call) {
      const { status, retryAfter, text } = await exchange(call, call.schema !== null);
      if (status >= 400) throw errorForStatus(status, retryAfter);
      return parseAnswer(call.schema, text);
    },
    exchange: (call) => exchange(call, true),
    async open(call) {
      const response = await send(call.endless === true ? streams : dispatcher, base, settings.apiKey, call);
      if (response.statusCode < 400) return response.body;
      await response.body.dump().catch(() => undefined);
      throw errorForStatus(response.statusCode, response.headers['retry-after']);
    },
    close: async () => {
      await Promise.all([dispatcher.close(), streams.close()]);
    },
  };
}

async function send(
  dispatcher: Dispatcher,
  base: string,
  apiKey: string,
  call: ServiceCall<z.ZodType | null>,
): Promise<Dispatcher.ResponseData> {
  try {
    return await request(`${base}${call.path}`, {
      dispatcher,
      method: call.method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        'x-kernel-project-id': call.projectId,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        // A form has its own content type, with the boundary of its parts.
        ...(call.content === undefined || call.content instanceof FormData
          ? {}
          : { 'content-type': 'application/octet-stream' }),
        ...call.headers,
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.content === undefined ? {} : { body: call.content }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
      ...(call.timeoutMs === undefined ? {} : { headersTimeout: call.timeoutMs, bodyTimeout: call.timeoutMs }),
    });
  } catch {
    // The original error may quote the request.
    call.signal?.throwIfAborted();
    throw unavailable('The browser service cannot be reached; check that it is running');
  }
}
