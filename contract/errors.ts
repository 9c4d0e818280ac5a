/** Every error code of a response; the first group comes from interface.md ("Errors"). See `docs/errors.md`. */
export const ERROR_CODES = {
  bad_request: { status: 400, cause: 'The request is malformed.', next: 'Correct the request and send it again.' },
  invalid_input: {
    status: 400,
    cause: 'A field of the body, the query or the path is invalid.',
    next: 'Read `details`: each entry names a field and its rule.',
  },
  invalid_request: { status: 400, cause: 'The operation rejects these arguments.', next: 'Read the message.' },
  stale_interaction: {
    status: 400,
    cause: 'The submitted `interaction_id` is not the pending one.',
    next: 'Read the connection and answer its current interaction.',
  },
  unknown_field: {
    status: 400,
    cause: 'A submitted field is not a field of the pending interaction.',
    next: 'Use the ids in `fields` (or names in `discovered_fields`).',
  },
  unknown_choice: {
    status: 400,
    cause: 'The submitted choice is not a choice of the pending interaction.',
    next: 'Use an id in `choices`.',
  },
  missing_field: {
    status: 400,
    cause: 'A required field was not submitted.',
    next: 'Submit every required field of the interaction together.',
  },
  cannot_delete_current_key: {
    status: 400,
    cause: 'The API key used for the request would delete itself.',
    next: 'Use another key.',
  },
  unauthorized: {
    status: 401,
    cause: 'The bearer token is missing, wrong, expired or revoked.',
    next: 'Send `Authorization: Bearer <API key>`.',
  },
  forbidden: { status: 403, cause: 'The credential may not do this.', next: 'Use a credential with the needed scope.' },
  confirmation_required: {
    status: 403,
    cause: 'The person has not proved within 15 minutes who they are, and this shows or replaces a secret.',
    next: '`POST /session/confirm`, then send the request again.',
  },
  insufficient_plan: {
    status: 403,
    cause: 'The plan does not include this.',
    next: 'Read `GET /org/entitlements`; the operator chooses the plan by `HOLDFAST_PLAN`.',
  },
  limit_reached: {
    status: 403,
    cause: 'The organization has reached this limit.',
    next: 'Delete one, or raise the limit by `PATCH /org/limits`.',
  },
  not_found: { status: 404, cause: 'No such resource in this scope.', next: 'Check the id and the project.' },
  projects_disabled: {
    status: 404,
    cause: 'Projects are disabled for the organization.',
    next: 'Name no project; an owner enables them by `PATCH /org/entitlements`.',
  },
  method_not_allowed: {
    status: 405,
    cause: 'The path does not support this method.',
    next: 'Use a method listed in `Allow`.',
  },
  already_exists: { status: 409, cause: 'The resource already exists.', next: 'Use the existing one.' },
  flow_in_progress: {
    status: 409,
    cause: 'A login flow is in progress.',
    next: 'Finish it, or wait until `flow_expires_at`.',
  },
  check_in_progress: { status: 409, cause: 'A health check is running.', next: 'Wait until it has finished.' },
  gone: { status: 410, cause: 'The resource expired, was used or has ended.', next: 'Start over.' },
  payload_too_large: { status: 413, cause: 'The body is larger than allowed.', next: 'Send a smaller body.' },
  unsupported_media_type: {
    status: 415,
    cause: 'The body is not JSON.',
    next: 'Send `Content-Type: application/json`.',
  },
  not_awaiting_input: {
    status: 422,
    cause: 'The connection is not waiting for input.',
    next: 'Read `flow_step`; submit only while it is AWAITING_INPUT.',
  },
  operation_failed: {
    status: 422,
    cause: 'The request was valid but the operation failed.',
    next: 'Read the message.',
  },
  rate_limited: { status: 429, cause: 'Too many requests.', next: 'Wait `Retry-After` seconds.' },
  internal_error: {
    status: 500,
    cause: 'An internal error of Holdfast.',
    next: 'Try again; if it persists, report it.',
  },
  not_implemented: { status: 501, cause: 'This version does not support the operation.', next: 'See the changelog.' },
  browser_error: { status: 502, cause: 'The browser service failed.', next: 'Try again.' },
  unavailable: {
    status: 503,
    cause: 'A part of Holdfast is down (see /health).',
    next: 'Try again after `Retry-After` seconds.',
  },
  capacity_exhausted: { status: 529, cause: 'No browser can be started now.', next: 'Wait `Retry-After` seconds.' },
} as const satisfies Record<string, { status: number; cause: string; next: string }>;

/** A code of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** One entry of `details`: `code` is machine-readable, `message` names the field first. */
export interface ErrorDetail {
  code: string;
  message: string;
}

/** The error body of interface.md ("Errors"). `existing_id` only with `already_exists` of a connection. */
export interface ErrorBody {
  code: string;
  message: string;
  details?: ErrorDetail[];
  inner_error?: ErrorDetail;
  existing_id?: string;
}

/** Options of {@link HoldfastError}. */
interface HoldfastErrorOptions {
  details?: ErrorDetail[];
  /** Only with `already_exists`: the id of the existing resource. */
  existingId?: string;
  /** Seconds for the `Retry-After` header. */
  retryAfterSeconds?: number;
  /** The known cause, as reported by what failed: a code, and no text from a caller or a page. */
  innerError?: ErrorDetail;
}

/** An error for callers: its message holds no secret and says what to do next. Match it by `code`, never by message. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: ErrorCode;
  readonly details: ErrorDetail[];
  readonly existingId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly innerError: ErrorDetail | undefined;

  constructor(code: ErrorCode, message: string, options: HoldfastErrorOptions = {}) {
    super(message);
    this.code = code;
    this.details = options.details ?? [];
    this.existingId = options.existingId;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.innerError = options.innerError;
  }

  /** HTTP status of the code. */
  get status(): number {
    return ERROR_CODES[this.code].status;
  }

  /** The response body. */
  toBody(): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      ...(this.details.length > 0 ? { details: this.details } : {}),
      ...(this.innerError === undefined ? {} : { inner_error: this.innerError }),
      ...(this.existingId === undefined ? {} : { existing_id: this.existingId }),
    };
  }
}

/** The error of a single invalid field. `code`: a more specific code for `details`. */
export function invalidField(field: string, rule: string, code = 'invalid_input'): HoldfastError {
  const message = `${field}: ${rule}`;
  return new HoldfastError('invalid_input', message, { details: [{ code, message }] });
}

/** True for a string that is one of {@link ERROR_CODES}. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
