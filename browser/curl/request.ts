import type { Protocol } from 'devtools-protocol';
import type { Curl } from '../../contract/curl.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { CdpConnection } from '../cdp/connection.ts';
import { withInternalPage } from '../chromium/internal-page.ts';
import { toHoldfastError } from '../computer/errors.ts';
import type { Session } from '../session/session.ts';

/** Concurrent requests per session: each has its own page, and a browser opens six connections per host. */
const MAX_CONCURRENT = 6;

/** A request to send. The body may be binary. */
type CurlRequest = Pick<Curl, 'url' | 'method' | 'headers' | 'timeout_ms'> & {
  body?: string | Buffer | undefined;
};

/** The response after all redirects. Header names are in lower case. */
export interface CurlResponse {
  status: number;
  headers: Record<string, string[]>;
  body: Buffer;
  duration_ms: number;
}

type Paused = Protocol.Fetch.RequestPausedEvent;

const inFlight = new WeakMap<Session, number>();

/**
 * Sends a request through the session's browser, with its network stack, proxy and cookies, which the response may set.
 *
 * A hidden page navigates to the address, so that no other site's rules (CORS, same-site cookies) apply. The outgoing request is
 * rewritten to the caller's, the browser follows redirects, and the response is intercepted before it becomes a document: no
 * script runs and nothing is downloaded. Throws `operation_failed` if there is no response, or it is late or too large.
 */
export async function sendRequest(session: Session, wanted: CurlRequest, signal: AbortSignal): Promise<CurlResponse> {
  const count = inFlight.get(session) ?? 0;
  if (count >= MAX_CONCURRENT) {
    throw new HoldfastError(
      'operation_failed',
      `A session allows at most ${String(MAX_CONCURRENT)} concurrent requests; retry later`,
    );
  }
  inFlight.set(session, count + 1);
  const startedAt = performance.now();
  const deadline = startDeadline(wanted.timeout_ms, signal);
  try {
    const { cdp, pages } = session.chromium;
    const response = await withInternalPage(cdp, pages.defaultContextId(), (page) =>
      Promise.race([navigateWith(cdp, page, wanted), deadline.expired]),
    );
    return { ...response, duration_ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    throw toHoldfastError(error);
  } finally {
    deadline.stop();
    inFlight.set(session, (inFlight.get(session) ?? 1) - 1);
  }
}

async function navigateWith(
  cdp: CdpConnection,
  page: string,
  wanted: CurlRequest,
): Promise<Omit<CurlResponse, 'duration_ms'>> {
  const setCookies = watchSetCookies(cdp, page);
  let isFirst = true;
  let stopListening: () => void = () => undefined;
  const arrived = new Promise<Paused>((resolve, reject) => {
    const orReject = (sent: Promise<unknown>): void => {
      sent.catch((error: unknown) => reject(toHoldfastError(error)));
    };
    const stops = [
      cdp.on('Fetch.requestPaused', (paused, from) => {
        if (from !== page) return;
        const { requestId, responseStatusCode } = paused;
        if (paused.responseErrorReason !== undefined) {
          orReject(cdp.send('Fetch.continueRequest', { requestId }, page));
        } else if (responseStatusCode === undefined) {
          orReject(
            cdp.send('Fetch.continueRequest', { requestId, ...(isFirst ? overridesOf(paused, wanted) : {}) }, page),
          );
          isFirst = false;
        } else if (isRedirect(paused)) orReject(cdp.send('Fetch.continueRequest', { requestId }, page));
        else resolve(paused);
      }),
      // Callers authenticate by headers.
      cdp.on('Fetch.authRequired', ({ requestId }, from) => {
        if (from !== page) return;
        const authChallengeResponse = { response: 'CancelAuth' as const };
        orReject(cdp.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }, page));
      }),
    ];
    stopListening = () => {
      for (const stop of stops) stop();
    };
    const patterns = (['Request', 'Response'] as const).map((requestStage) => ({ urlPattern: '*', requestStage }));
    const navigate = async (): Promise<void> => {
      await Promise.all([
        cdp.send('Network.enable', {}, page),
        cdp.send('Network.setBypassServiceWorker', { bypass: true }, page),
        cdp.send('Network.setCacheDisabled', { cacheDisabled: true }, page),
        cdp.send('Fetch.enable', { patterns, handleAuthRequests: true }, page),
      ]);
      // Resolves only with a document or an error; the timeout of the command is unrelated to the request's.
      const { errorText } = await cdp.send('Page.navigate', { url: wanted.url }, page);
      if (errorText === undefined) return;
      const innerError = { code: errorText, message: 'The browser’s network stack failed' };
      reject(new HoldfastError('operation_failed', `The request failed: ${errorText}`, { innerError }));
    };
    navigate().catch((error: unknown) => {
      if (!isTimeout(error)) reject(toHoldfastError(error));
    });
  });
  try {
    const paused = await arrived;
    const body = await readBody(cdp, page, paused.requestId);
    const status = paused.responseStatusCode ?? 0;
    const headers = headersOf(paused.responseHeaders ?? []);
    const isBodiless = wanted.method === 'HEAD' || status === 204 || status === 304;
    if (!isBodiless && !isComplete(headers, body)) {
      throw new HoldfastError('operation_failed', 'The response was cut off; retry');
    }
    const cookies = await setCookies.of(status);
    return {
      status,
      headers: { ...headers, ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }) },
      body,
    };
  } finally {
    stopListening();
    setCookies.stop();
  }
}

/** Turns the browser's request into the caller's. The browser's own headers are kept unless the caller sets them. */
function overridesOf({ request: own }: Paused, { method, headers, body }: CurlRequest) {
  const given = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  const kept = Object.entries(own.headers)
    .filter(([name]) => !given.has(name.toLowerCase()))
    .map(([name, value]) => ({ name, value }));
  return {
    method,
    headers: [...kept, ...given.values()],
    ...(body === undefined ? {} : { postData: Buffer.from(body).toString('base64') }),
  };
}

function isRedirect({ responseStatusCode, responseHeaders = [] }: Paused): boolean {
  const hasLocation = responseHeaders.some(({ name }) => name.toLowerCase() === 'location');
  return hasLocation && [301, 302, 303, 307, 308].includes(responseStatusCode ?? 0);
}

function headersOf(entries: Protocol.Fetch.HeaderEntry[]): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const { name, value } of entries) {
    const key = name.toLowerCase();
    // Repeated headers may come as one entry with several lines.
    headers.set(key, [...(headers.get(key) ?? []), ...value.split('\n')]);
  }
  return Object.fromEntries(headers);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'reason' in error && error.reason === 'timeout';
}

function startDeadline(milliseconds: number, signal: AbortSignal): { expired: Promise<never>; stop: () => void } {
  let stop: () => void = () => undefined;
  const expired = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => {
      const message = `Timed out after ${String(milliseconds)} ms waiting for the response`;
      reject(new HoldfastError('operation_failed', message));
    }, milliseconds);
    const onAbort = (): void => reject(new HoldfastError('operation_failed', 'The client disconnected'));
    signal.addEventListener('abort', onAbort);
    stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
  });
  expired.catch(() => undefined);
  return { expired, stop };
}

/** Largest response body, in bytes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** Chunk size when reading it, in bytes. */
const READ_BYTES = 512 * 1024;

/** Reads the body of an intercepted response, decoded. Throws `operation_failed` if it is too large. */
async function readBody(cdp: CdpConnection, page: string, requestId: string): Promise<Buffer> {
  const { stream } = await cdp.send('Fetch.takeResponseBodyAsStream', { requestId }, page);
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { data, base64Encoded = false, eof } = await cdp.send('IO.read', { handle: stream, size: READ_BYTES }, page);
    const piece = Buffer.from(data, base64Encoded ? 'base64' : 'utf8');
    size += piece.length;
    if (size > MAX_BODY_BYTES) {
      throw new HoldfastError('operation_failed', `The response exceeds ${String(MAX_BODY_BYTES)} bytes`);
    }
    pieces.push(piece);
    if (eof) return Buffer.concat(pieces);
  }
}

/** False for a truncated body, as far as the headers tell. */
function isComplete(headers: Record<string, string[]>, body: Buffer): boolean {
  const [length] = headers['content-length'] ?? [];
  return length === undefined || headers['content-encoding'] !== undefined || Number(length) === body.length;
}

/** Longest wait for a response's extra info, which is a separate event, before or after it; in milliseconds. */
const EXTRA_INFO_TIMEOUT_MS = 500;

/** The `Set-Cookie` headers of one page's responses, which the browser only reports as extra info. */
interface SetCookies {
  /** Those of the latest response, which has this status; empty if unknown. */
  of(status: number): Promise<string[]>;
  stop(): void;
}

function watchSetCookies(cdp: CdpConnection, page: string): SetCookies {
  let latest: { status: number; cookies: string[] } | null = null;
  let wake: () => void = () => undefined;
  const stop = cdp.on('Network.responseReceivedExtraInfo', ({ statusCode, headers }, from) => {
    if (from !== page) return;
    const entry = Object.entries(headers).find(([name]) => name.toLowerCase() === 'set-cookie');
    latest = { status: statusCode, cookies: entry === undefined ? [] : entry[1].split('\n') };
    wake();
  });
  return {
    stop,
    of: async (status) => {
      if (latest?.status !== status) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, EXTRA_INFO_TIMEOUT_MS);
          wake = () => {
            if (latest?.status !== status) return;
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return latest?.status === status ? latest.cookies : [];
    },
  };
}
