import type { ErrorBody } from '../../contract/errors.ts';
import { inLanguage } from '../words/language.ts';

const words = inLanguage({
  en: {
    offline: 'Holdfast cannot be reached. Check your network and try again',
    unreadable: 'Holdfast sent an unreadable response. Reload the page',
  },
  de: {
    offline: 'Holdfast ist nicht zu erreichen. Prüfe dein Netz und versuche es noch einmal',
    unreadable: 'Holdfast hat eine Antwort gegeben, die diese Seite nicht lesen kann. Lade die Seite neu',
  },
});

/** A rejected call, or one without a response (status 0, code `offline`). */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  readonly code: string;
  /** Errors by field path, such as `config.host`. */
  readonly fields: Readonly<Record<string, string>>;
  /** With `already_exists`: id of the existing resource. */
  readonly existingId: string | undefined;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.fields = fieldsOf(body);
    this.existingId = body.existing_id;
  }
}

/** An error for one field, as the API would send it. */
export function fieldError(field: string, rule: string): CallError {
  const message = `${field}: ${rule}`;
  return new CallError(400, { code: 'invalid_input', message, details: [{ code: 'invalid_input', message }] });
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Query = Record<string, string | number | boolean | undefined>;

/** A page of a list and the offset of the next one; null on the last. */
export interface ListPage<Row> {
  rows: Row[];
  nextOffset: number | null;
}

/** A page of a token-paged list and the token of the next one; null on the last. */
export interface TokenPage<Row> {
  rows: Row[];
  next: string | null;
}

let confirmIdentity: (() => Promise<boolean>) | null = null;
let projectId: string | null = null;

/** Sets the callback that asks people to confirm their identity. It resolves to true if they did. */
export function onConfirmationRequired(ask: () => Promise<boolean>): void {
  confirmIdentity = ask;
}

/** Paths that belong to no project: the API rejects them if a project is named. */
const OF_ORGANIZATION = /^\/(session|org\/projects)\b/;

/** Scopes all following calls to a project; null for everything the session can access. */
export function setCallProject(id: string | null): void {
  projectId = id;
}

/**
 * Calls an API operation as the signed-in person. The response type is trusted: the API validates against its schema. Bodies are
 * sent as JSON, except `FormData`. Rejects with {@link CallError}.
 */
export async function call<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  const response = await send(method, path, body);
  return (await readBody(response)) as Answer;
}

/** Fetches a page of a list. Rejects with {@link CallError}. */
export async function callList<Row>(path: string, query: Query): Promise<ListPage<Row>> {
  const response = await send('GET', withQuery(path, query));
  const more = response.headers.get('x-has-more') === 'true';
  return {
    rows: (await readBody(response)) as Row[],
    nextOffset: more ? Number(response.headers.get('x-next-offset')) : null,
  };
}

/** Fetches a page of a token-paged list. Rejects with {@link CallError}. */
export async function callPages<Row>(path: string, query: Query): Promise<TokenPage<Row>> {
  const response = await send('GET', withQuery(path, query));
  return { rows: (await readBody(response)) as Row[], next: response.headers.get('x-next-page-token') };
}

/** Fetches a file, such as a recording. Rejects with {@link CallError}. */
export async function callFile(path: string): Promise<Blob> {
  return (await send('GET', path)).blob();
}

/** Opens an event stream until `signal` aborts. Rejects with {@link CallError}. */
export async function callStream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const { body } = await send('GET', path, undefined, signal);
  if (body === null) throw new CallError(0, { code: 'offline', message: words.offline });
  return body;
}

/** Appends the query parameters that have a value. */
export function withQuery(path: string, query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs).toString()}`;
}

async function send(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const response = await sendOnce(method, path, body, signal);
  if (response.ok) return response;
  const refusal = await refusalOf(response);
  if (refusal.code !== 'confirmation_required' || confirmIdentity === null) throw refusal;
  if (!(await confirmIdentity())) throw refusal;
  const repeated = await sendOnce(method, path, body);
  if (!repeated.ok) throw await refusalOf(repeated);
  return repeated;
}

async function sendOnce(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      cache: 'no-store',
      headers: {
        accept: 'application/json',
        'x-holdfast-page': '1',
        ...(projectId === null || OF_ORGANIZATION.test(path) ? {} : { 'x-kernel-project-id': projectId }),
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch {
    throw new CallError(0, { code: 'offline', message: words.offline });
  }
}

async function readBody(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  try {
    return await response.json();
  } catch {
    throw new CallError(response.status, { code: 'unreadable', message: words.unreadable });
  }
}

async function refusalOf(response: Response): Promise<CallError> {
  const body: unknown = await response.json().catch(() => null);
  return new CallError(response.status, isErrorBody(body) ? body : { code: 'unreadable', message: words.unreadable });
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body;
}

/** `details` messages look like `config.host: must be …`; the rest stays in the message. */
function fieldsOf({ details = [] }: ErrorBody): Record<string, string> {
  return Object.fromEntries(
    details.flatMap(({ message }) => {
      const [, field, rule] = /^([\w.]+): (.+)$/s.exec(message) ?? [];
      return field === undefined || rule === undefined ? [] : [[field, rule]];
    }),
  );
}
