import type { Readable } from 'node:stream';
import { Agent, FormData, request, type Dispatcher } from 'undici';
import type { z } from 'zod';
import type { Answer } from './answers.ts';
import { parseAnswer } from './answers.ts';
import { errorForStatus, unavailable } from './errors.ts';

/** Where the browser service is. `apiKey` is sent as a bearer token. */
export interface BrowserServiceSettings {
  baseUrl: string;
  apiKey: string;
}

/** One call of the browser service. Without `schema` the answer's body is dropped. */
export interface ServiceCall<Schema extends z.ZodType | null> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  projectId: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, in place of `body`. */
  content?: Buffer | Readable | FormData;
  /** Beside those that every call has. */
  headers?: Record<string, string>;
  schema: Schema;
  signal?: AbortSignal | undefined;
  /** Longest that the answer may take, in milliseconds, where {@link CALL_TIMEOUT_MS} is not right. */
  timeoutMs?: number;
  /** True for streams that follow something: they may be silent for as long as they last. */
  endless?: boolean;
}

/** An answer as it came, for callers to whom an error may say something. */
interface RawAnswer {
  status: number;
  retryAfter: string | string[] | undefined;
  text: string;
}

/** A thin, typed caller of the browser service: one request a call, no retries of its own (Temporal retries). */
export interface BrowserService {
  call<Schema extends z.ZodType | null>(call: ServiceCall<Schema>): Promise<Answer<Schema>>;
  /** The same without a judgement on the answer; rejects only when there is none. */
  exchange(call: ServiceCall<null>): Promise<RawAnswer>;
  /** The answer's body as it comes, for what is too large to be held. Whoever takes it reads or destroys it. */
  open(call: ServiceCall<null>): Promise<Readable>;
  close(): Promise<void>;
}

/** Longest that one call may take, in milliseconds: a smooth drag or a save of a large profile fits. */
const CALL_TIMEOUT_MS = 60_000;

/** Makes the caller. It keeps connections open between calls; close it when the worker ends. */
export function createBrowserService(settings: BrowserServiceSettings): BrowserService {
  const dispatcher = new Agent({ connections: 64, headersTimeout: CALL_TIMEOUT_MS, bodyTimeout: CALL_TIMEOUT_MS });
  // A stream holds its connection for as long as it lasts: those would be missing for calls.
  const streams = new Agent({ headersTimeout: CALL_TIMEOUT_MS, bodyTimeout: 0 });
  const base = settings.baseUrl.replace(/\/+$/, '');
  /** `isRead`: an answer that breaks off is none. Where only the status counts, what was asked for has been done by then. */
  const exchange = async (call: ServiceCall<z.ZodType | null>, isRead: boolean): Promise<RawAnswer> => {
    const { statusCode: status, headers, body } = await send(dispatcher, base, settings.apiKey, call);
    const text = await body.text().catch(() => null);
    if (text === null && isRead && status < 400) {
      throw unavailable('The answer of the browser service broke off; retry');
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
        // A form has a type of its own, with the boundary of its parts.
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
    // What was thrown may quote the request; only its kind goes on.
    call.signal?.throwIfAborted();
    throw unavailable('The browser service cannot be reached; check that it runs');
  }
}
