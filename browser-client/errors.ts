/**
 * What went wrong: the session (or what was asked of it) no longer exists, the service is away or full and comes back, or
 * anything else.
 */
type BrowserServiceErrorCode = 'session_gone' | 'service_unavailable' | 'browser_error';

/**
 * A call of the browser service that failed. Its message holds nothing of what was sent or answered, for that may be a
 * secret or a page's words.
 */
export class BrowserServiceError extends Error {
  override readonly name = 'BrowserServiceError';
  readonly code: BrowserServiceErrorCode;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the service asks to be left alone, in seconds. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: BrowserServiceErrorCode, message: string, retryable: boolean, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The service is away, or went away in the middle of an answer: the call may be repeated. */
export function unavailable(message: string, retryAfterSeconds?: number): BrowserServiceError {
  return new BrowserServiceError('service_unavailable', message, true, retryAfterSeconds);
}

/** The service answered what nobody can use: the same call would be answered alike. */
export function invalidResponse(message: string): BrowserServiceError {
  return new BrowserServiceError('browser_error', message, false);
}

/** Statuses of a service that is not there now. Not 502: with it a service that is there says that no browser starts. */
const DOWN = new Set([503, 504]);

/**
 * The one reading of error statuses. Bodies are not read: they may lack a code, or quote what was sent.
 */
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
