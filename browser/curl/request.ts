import type { Protocol } from 'devtools-protocol';
import type { Curl } from '../../contract/curl.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { CdpConnection } from '../cdp/connection.ts';
import { withOwnPage } from '../chromium/own-page.ts';
import { toHoldfastError } from '../computer/errors.ts';
import type { Session } from '../session/session.ts';

/** Requests of one session that are under way at a time: each has a page of its own, and a browser connects six times to a host. */
const MAX_AT_ONCE = 6;

/** What is asked for. A body may be any bytes. */
type WantedRequest = Pick<Curl, 'url' | 'method' | 'headers' | 'timeout_ms'> & {
  body?: string | Buffer | undefined;
};

/** What came at the end of all redirects. Names of headers are in lower case. */
export interface RequestAnswer {
  status: number;
  headers: Record<string, string[]>;
  body: Buffer;
  duration_ms: number;
}

type Paused = Protocol.Fetch.RequestPausedEvent;

const underWay = new WeakMap<Session, number>();

/**
 * Makes one request with the session's browser: its network stack, its way out, its cookies, which an answer may set.
 *
 * A hidden page is sent to the address, as by its address bar: so no other site's rules (CORS, same-site cookies) are in the
 * way. The request is changed on its way out to what the caller wants, redirects are followed by the browser, and the answer
 * is taken before a document comes of it: nothing of it runs, nothing is downloaded. Throws `operation_failed` when there is
 * no answer, none in time, or one too long.
 */
export async function request(session: Session, wanted: WantedRequest, gone: AbortSignal): Promise<RequestAnswer> {
  const count = underWay.get(session) ?? 0;
  if (count >= MAX_AT_ONCE) {
    throw new HoldfastError(
      'operation_failed',
      `A session allows at most ${String(MAX_AT_ONCE)} concurrent requests; retry later`,
    );
  }
  underWay.set(session, count + 1);
  const startedAt = performance.now();
  const deadline = startDeadline(wanted.timeout_ms, gone);
  try {
    const { cdp, pages } = session.chromium;
    const answer = await withOwnPage(cdp, pages.defaultContextId(), (page) =>
      Promise.race([askFrom(cdp, page, wanted), deadline.passed]),
    );
    return { ...answer, duration_ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    throw toHoldfastError(error);
  } finally {
    deadline.stop();
    underWay.set(session, (underWay.get(session) ?? 1) - 1);
  }
}

async function askFrom(
  cdp: CdpConnection,
  page: string,
  wanted: WantedRequest,
): Promise<Omit<RequestAnswer, 'duration_ms'>> {
  const setCookies = watchSetCookies(cdp, page);
  let isFirst = true;
  let stopListening: () => void = () => undefined;
  const failed = (error: unknown): HoldfastError => toHoldfastError(error);
  const arrived = new Promise<Paused>((resolve, reject) => {
    const goOn = (sent: Promise<unknown>): void => {
      sent.catch((error: unknown) => reject(failed(error)));
    };
    const stops = [
      cdp.on('Fetch.requestPaused', (paused, from) => {
        if (from !== page) return;
        const { requestId, responseStatusCode } = paused;
        if (paused.responseErrorReason !== undefined) {
          goOn(cdp.send('Fetch.continueRequest', { requestId }, page));
        } else if (responseStatusCode === undefined) {
          goOn(cdp.send('Fetch.continueRequest', { requestId, ...(isFirst ? changesOf(paused, wanted) : {}) }, page));
          isFirst = false;
        } else if (isRedirect(paused)) goOn(cdp.send('Fetch.continueRequest', { requestId }, page));
        else resolve(paused);
      }),
      // The caller has its own way to say who it is: headers.
      cdp.on('Fetch.authRequired', ({ requestId }, from) => {
        if (from !== page) return;
        const authChallengeResponse = { response: 'CancelAuth' as const };
        goOn(cdp.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }, page));
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
      // Not answered before there is a document or a fault; its own time-out says nothing of ours.
      const { errorText } = await cdp.send('Page.navigate', { url: wanted.url }, page);
      if (errorText === undefined) return;
      const innerError = { code: errorText, message: 'The browser’s network stack failed' };
      reject(new HoldfastError('operation_failed', `The request failed: ${errorText}`, { innerError }));
    };
    navigate().catch((error: unknown) => {
      if (!isTimeout(error)) reject(failed(error));
    });
  });
  try {
    const paused = await arrived;
    const body = await readBody(cdp, page, paused.requestId);
    const status = paused.responseStatusCode ?? 0;
    const headers = headersOf(paused.responseHeaders ?? []);
    const isBodiless = wanted.method === 'HEAD' || status === 204 || status === 304;
    if (!isBodiless && !isWhole(headers, body)) {
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

/** What makes the browser's request the caller's. The browser's own headers stay where the caller names none. */
function changesOf({ request: own }: Paused, { method, headers, body }: WantedRequest) {
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
  const leads = responseHeaders.some(({ name }) => name.toLowerCase() === 'location');
  return leads && [301, 302, 303, 307, 308].includes(responseStatusCode ?? 0);
}

function headersOf(entries: Protocol.Fetch.HeaderEntry[]): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const { name, value } of entries) {
    const key = name.toLowerCase();
    // Some come as one entry with a line for each.
    headers.set(key, [...(headers.get(key) ?? []), ...value.split('\n')]);
  }
  return Object.fromEntries(headers);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && 'reason' in error && error.reason === 'timeout';
}

function startDeadline(milliseconds: number, gone: AbortSignal): { passed: Promise<never>; stop: () => void } {
  let stop: () => void = () => undefined;
  const passed = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => {
      reject(
        new HoldfastError('operation_failed', `Timed out after ${String(milliseconds)} ms waiting for the response`),
      );
    }, milliseconds);
    const leave = (): void => reject(new HoldfastError('operation_failed', 'The client disconnected'));
    gone.addEventListener('abort', leave);
    stop = () => {
      clearTimeout(timer);
      gone.removeEventListener('abort', leave);
    };
  });
  passed.catch(() => undefined);
  return { passed, stop };
}

/** Longest body of an answer, in bytes. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;
/** How much is read at a time, in bytes. */
const READ_BYTES = 512 * 1024;

/** Takes the body of an answer that is held, without its encoding of the transfer. Throws `operation_failed` when it is too long. */
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

/** False for a body that broke off, as far as its headers tell. */
function isWhole(headers: Record<string, string[]>, body: Buffer): boolean {
  const [length] = headers['content-length'] ?? [];
  return length === undefined || headers['content-encoding'] !== undefined || Number(length) === body.length;
}

/** Longest wait for what comes beside an answer, in milliseconds: it is told apart from it, before or after. */
const WAIT_MS = 500;

/** The `Set-Cookie` headers of answers to one page, which the browser keeps out of what it tells of an answer itself. */
interface SetCookies {
  /** Those of the latest answer, which had this status; empty when nothing is told of it. */
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
          const timer = setTimeout(resolve, WAIT_MS);
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
