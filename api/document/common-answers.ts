import { STATUS_CODES } from 'node:http';
import { ERROR_CODES } from '../../contract/errors.ts';

/** The part of an OpenAPI response object that this service fills. */
interface AnswerObject {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: object }>;
}

const header = (description: string, type: 'integer' | 'string' | 'boolean') => ({ description, schema: { type } });

/** Headers that more than one operation answers with, by the names that the document refers to them by. */
export const HEADERS = {
  'X-RateLimit-Limit': header('Calls that may be made at once', 'integer'),
  'X-RateLimit-Remaining': header('Calls that are left now', 'integer'),
  'Retry-After': header('Seconds to wait before the next try', 'integer'),
  'x-should-retry': header('`false`: the same request will be refused again', 'boolean'),
  'WWW-Authenticate': header('How to authenticate', 'string'),
  Allow: header('Methods that the path has', 'string'),
  'X-Has-More': header('Whether rows follow', 'boolean'),
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

/** Headers of every answer to a call that was counted. */
export const RATE_HEADERS: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining'];
const OF_STATUS: Record<number, readonly HeaderName[]> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['x-should-retry'],
  429: ['Retry-After'],
  503: ['Retry-After'],
  529: ['Retry-After'],
};

/** Name of the answer that refuses with a status, in `components.responses`. */
export const refusalName = (status: number | string): string => `Refused${status}`;

/** The answers that refuse, one for each status that an error code has: which codes, why, and what to do next. */
export function refusalAnswers(): Record<string, AnswerObject> {
  const statuses = [...new Set(Object.values(ERROR_CODES).map(({ status }) => status))].toSorted((a, b) => a - b);
  return Object.fromEntries(statuses.map((status) => [refusalName(status), refusalAnswer(status)]));
}

function refusalAnswer(status: number): AnswerObject {
  const codes = Object.entries(ERROR_CODES).filter((entry) => entry[1].status === status);
  const [example] = codes;
  const lines = codes.map(([code, { cause, next }]) => `\`${code}\`: ${cause} ${next}`);
  return {
    description: [STATUS_CODES[status] ?? 'Capacity exhausted', ...lines].join('\n\n'),
    headers: headersOf(...RATE_HEADERS, ...(OF_STATUS[status] ?? [])),
    content: {
      'application/json': {
        schema: {
          $ref: '#/components/schemas/Error',
          ...(example === undefined
            ? {}
            : { examples: [{ code: example[0], message: withoutStop(example[1].cause) }] }),
        },
      },
    },
  };
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
