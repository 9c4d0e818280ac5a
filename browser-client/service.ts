import type { Readable } from 'node:stream';
import { ApplicationFailure } from '@temporalio/common';
import { Agent, FormData, request, type Dispatcher } from 'undici';
import type { z } from 'zod';
import type { ActivityFailure } from '../contract/activities.ts';

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
export interface RawAnswer {
  status: number;
  retryAfter: string | string[] | undefined;
  text: string;
}

type Answer<Schema> = Schema extends z.ZodType ? z.infer<Schema> : null;

/** A thin, typed caller of the browser service: one request a call, no retries of its own (Temporal retries). */
export interface BrowserService {
  call<Schema extends z.ZodType | null>(call: ServiceCall<Schema>): Promise<Answer<Schema>>;
  /** The same without a judgement on the answer; rejects only when there is none. */
  exchange(call: ServiceCall<null>): Promise<RawAnswer>;
  /** The answer's body as it comes, for what is too large to be held. Whoever takes it reads or destroys it. */
  open(call: ServiceCall<null>): Promise<Readable>;
  close(): Promise<void>;
}

/** Statuses of a service that is not there now. Not 502: with it a service that is there says that no browser starts. */
const DOWN = new Set([503, 504]);

/** Longest that one call may take, in milliseconds: a smooth drag or a save of a large profile fits. */
const CALL_TIMEOUT_MS = 60_000;

/** Makes the caller. It keeps connections open between calls; close it when the worker ends. */
export function createBrowserService(settings: BrowserServiceSettings): BrowserService {
  const dispatcher = new Agent({ connections: 64, headersTimeout: CALL_TIMEOUT_MS, bodyTimeout: CALL_TIMEOUT_MS });
  const base = settings.baseUrl.replace(/\/+$/, '');
  /** `isRead`: an answer that breaks off is none. Where only the status counts, what was asked for has been done by then. */
  const exchange = async (call: ServiceCall<z.ZodType | null>, isRead: boolean): Promise<RawAnswer> => {
    const { statusCode: status, headers, body } = await send(dispatcher, base, settings.apiKey, call);
    const text = await body.text().catch(() => null);
    if (text === null && isRead && status < 400) {
      throw failure('service_unavailable', 'the answer of the browser service broke off', false);
    }
    return { status, retryAfter: headers['retry-after'], text: text ?? '' };
  };
  return {
    async call(call) {
      const { status, retryAfter, text } = await exchange(call, call.schema !== null);
      if (status >= 400) throw failureOf(status, retryAfter);
      return parseAnswer(call.schema, text);
    },
    exchange: (call) => exchange(call, true),
    async open(call) {
      const response = await send(dispatcher, base, settings.apiKey, call);
      if (response.statusCode < 400) return response.body;
      await response.body.dump().catch(() => undefined);
      throw failureOf(response.statusCode, response.headers['retry-after']);
    },
    close: () => dispatcher.close(),
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
      ...(call.endless === true ? { bodyTimeout: 0 } : {}),
    });
  } catch {
    // What was thrown may quote the request; only its kind goes on.
    call.signal?.throwIfAborted();
    throw failure('service_unavailable', 'the browser service cannot be reached', false);
  }
}

/** An answer that comes in pieces as one, when it is no longer than what is expected of it. */
export async function readWhole(answer: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of answer) {
      const data = Buffer.from(piece as Uint8Array);
      size += data.length;
      if (size > maxBytes) break;
      pieces.push(data);
    }
  } catch {
    throw failure('service_unavailable', 'the answer of the browser service broke off', false);
  }
  if (size > maxBytes) throw failure('browser_error', 'the answer of the browser service is too large', true);
  return Buffer.concat(pieces);
}

/** Peers answer an empty 200 where nothing is to be said; only what was asked for must have its shape. */
export function parseAnswer<Schema extends z.ZodType | null>(schema: Schema, text: string): Answer<Schema>;
export function parseAnswer(schema: z.ZodType | null, text: string): unknown {
  if (schema === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw failure('browser_error', 'the browser service answered something that is not JSON', true);
  }
  const parsed = schema.safeParse(json);
  if (!parsed.success) throw failure('browser_error', 'the browser service answered in an unknown shape', true);
  return parsed.data;
}

/**
 * The one mapping of the browser service's errors: a session that is gone, a request that can never succeed, a service
 * that is down or full, and everything else that may pass. Bodies are not read: they may lack a code, or quote what was
 * sent.
 */
export function failureOf(status: number, retryAfter: string | string[] | undefined): ApplicationFailure {
  if (status === 404 || status === 410) return failure('session_gone', 'the browser session is gone', true);
  if (status === 429 || status === 529) {
    const seconds = Number(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
    const retryAfterSeconds = Number.isFinite(seconds) ? seconds : 1;
    return failure('service_unavailable', 'the browser service has no room now', false, retryAfterSeconds);
  }
  if (DOWN.has(status)) {
    return failure('service_unavailable', `the browser service is down (${String(status)})`, false);
  }
  if (status >= 500) return failure('browser_error', `the browser service failed (${String(status)})`, false);
  return failure('browser_error', `the browser service refused the request (${String(status)})`, true);
}

/** An activity's failure: its type is from a closed list, its message holds nothing of a page or a person. */
export function failure(
  type: ActivityFailure,
  message: string,
  nonRetryable: boolean,
  retryAfterSeconds?: number,
): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message,
    nonRetryable,
    ...(retryAfterSeconds === undefined ? {} : { nextRetryDelay: retryAfterSeconds * 1000 }),
  });
}
