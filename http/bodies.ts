import type { Readable } from 'node:stream';
import { finished, PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';

/** Bytes of an abandoned body that are still read; beyond that the connection is closed. */
const MAX_DISCARDED = 64 * 1024 * 1024;

/** Treats an empty JSON body as absent, because some clients send the content type without a body. */
export function acceptEmptyJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = body.toString();
    if (text.trim() === '') done(null, undefined);
    else void parseJson(request, text, done);
  });
}

/**
 * A request's body, for a reader that may give it up before its end: the rest is then discarded. Left unread, it would stand
 * before the next request on the same connection, which nobody would ever answer.
 */
export function abandonableBody(body: Readable): Readable {
  const copy = new PassThrough();
  finished(body, { writable: false }, (error) => {
    if (error) copy.destroy(error);
  });
  copy.once('close', () => {
    body.unpipe(copy);
    discardRest(body);
  });
  return body.pipe(copy);
}

/** Reads and discards the rest of an abandoned body. */
export function discardRest(body: Readable): void {
  if (body.destroyed || body.readableEnded) return;
  let discarded = 0;
  body.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED) body.destroy();
  });
  body.resume();
}

/**
 * Rethrows an error of reading a multipart form as an error of the client: `payload_too_large` or `bad_request`. System errors are
 * rethrown unchanged.
 */
export function throwFormError(error: unknown): never {
  if (error instanceof HoldfastError || (error instanceof Error && 'syscall' in error)) throw error;
  if (error instanceof Error && 'statusCode' in error && error.statusCode === 413) {
    throw new HoldfastError('payload_too_large', 'The form exceeds the limit on number or size of parts');
  }
  throw new HoldfastError('bad_request', 'The body is not a valid multipart form');
}
