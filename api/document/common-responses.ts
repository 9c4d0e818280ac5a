import { STATUS_CODES } from 'node:http';
import { ERROR_CODES } from '../../contract/errors.ts';

/** The parts of an OpenAPI response object that this service sets. */
interface ResponseObject {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: object }>;
}

const header = (description: string, type: 'integer' | 'string' | 'boolean') => ({ description, schema: { type } });

/** Headers that several operations return, by their names in `components.headers`. */
export const HEADERS = {
  'X-RateLimit-Limit': header('Calls that may be made at once', 'integer'),
  'X-RateLimit-Remaining': header('Calls that are left', 'integer'),
  'Retry-After': header('Seconds to wait before retrying', 'integer'),
  'x-should-retry': header('`false`: the same request will fail again', 'boolean'),
  'WWW-Authenticate': header('How to authenticate', 'string'),
  Allow: header('Methods that the path supports', 'string'),
  'X-Has-More': header('Whether more rows follow', 'boolean'),
  'X-Next-Offset': header('`offset` of the next page; 0 on the last', 'integer'),
  'X-Next-Page-Token': header('`page_token` of the next page; absent on the last', 'string'),
  'X-Next-Cursor': header('`cursor` of the next chunk; absent on the last', 'string'),
  'X-Row-Count': header('Rows in this chunk', 'integer'),
  'X-Content-Sha256': header('SHA-256 of this chunk, in hex', 'string'),
} as const;

export type HeaderName = keyof typeof HEADERS;

/** References to {@link HEADERS}, for a response object. */
export function headersOf(...names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of every response to a rate-limited call. */
export const RATE_HEADERS: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining'];
const STATUS_HEADERS: Record<number, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['x-should-retry'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  529: ['Retry-After'],
};

/** Name of the error response for a status in `components.responses`. */
export const errorResponseName = (status: number | string): string => `Refused${status}`;

/** The error responses, one per status: its codes, their causes and what to do next. */
export function errorResponseComponents(): Record<string, ResponseObject> {
  const statuses = [...new Set(Object.values(ERROR_CODES).map(({ status }) => status))].toSorted((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [errorResponseName(status), errorResponse(status)]));
}

function errorResponse(status: number): ResponseObject {
  const codes = Object.entries(ERROR_CODES).filter((entry) => entry[1].status === status);
  const [example] = codes;
  const lines = codes.map(([code, { cause, next }]) => `\`${code}\`: ${cause} ${next}`);
  return {
    description: [STATUS_CODES[status] ?? 'Capacity exhausted', ...lines].join('\n\n'),
    headers: headersOf(...RATE_HEADERS, ...(STATUS_HEADERS[status] ?? [])),
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/Error',
          ...(example === undefined
            ? {}
            : { examples: [{ code: example[0], message: withoutPeriod(example[1].cause) }] }),
        },
      },
    },
  };
}

function withoutPeriod(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
