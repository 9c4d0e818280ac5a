/** The session (or what was asked of it) is gone; the service is down or full and will be back; anything else. */
type BrowserServiceErrorCode = 'session_gone' | 'service_unavailable' | 'browser_error';

/** A failed call of the browser service. The message quotes neither request nor response: they may hold secrets. */
export class BrowserServiceError extends Error {
  override readonly name = 'BrowserServiceError';
  readonly code: BrowserServiceErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The service's `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: BrowserServiceErrorCode, message: string, retryable: boolean, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service is down, or went down while it responded. Retryable. */
export function unavailable(message: string, retryAfterSeconds?: number): BrowserServiceError {
  return new BrowserServiceError('service_unavailable', message, true, retryAfterSeconds);
}

/** The service's response is unusable. Not retryable: it would be the same again. */
export function invalidResponse(message: string): BrowserServiceError {
  return new BrowserServiceError('browser_error', message, false);
}

/** Statuses of a service that is down. Not 502: the service itself uses it when a browser fails to start. */
const DOWN = new Set([503, 504]);

/** Maps an error status to an error. Bodies are ignored: they may lack a code, or quote the request. */
export function errorForStatus(status: number, retryAfter: string | string[] | undefined): BrowserServiceError {
  if (status === 404 || status === 410) {
    return new BrowserServiceError('session_gone', 'The browser session has ended; open another', false);
  }
  if (status === 429 || status === 529) {
    const seconds = Number(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter);
    return unavailable('The browser service is at capacity; retry later', Number.isFinite(seconds) ? seconds : 1);
  }
  if (DOWN.has(status)) return unavailable(`The browser service is down (${String(status)}); retry later`);
  if (status >= 500) {
    return new BrowserServiceError('browser_error', `The browser service failed (${String(status)}); retry`, true);
  }
  return invalidResponse(`The browser service rejected the request (${String(status)}); check its version`);
}
