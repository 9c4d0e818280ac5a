import type { Readable } from 'node:stream';
import { finished, PassThrough } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { HoldfastError } from '../contract/errors.ts';

/** How much of a refused body is still read, in bytes; who sends more loses the connection. */
const MAX_DROPPED = 64 * 1024 * 1024;

/** Bodies are JSON; an empty one counts as absent, because clients send a content type with nothing behind it. */
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
 * A request's body, for a reader that may give it up before its end: the rest is then dropped. Left unread, it would stand
 * before the next request on the same connection, which nobody would ever answer.
 */
export function givableBody(body: Readable): Readable {
  const copy = new PassThrough();
  finished(body, { writable: false }, (error) => {
    if (error) copy.destroy(error);
  });
  copy.once('close', () => {
    body.unpipe(copy);
    dropRest(body);
  });
  return body.pipe(copy);
}

/** Reads what is left of a body that was given up. */
export function dropRest(body: Readable): void {
  if (body.destroyed || body.readableEnded) return;
  let dropped = 0;
  body.on('data', (piece: Buffer) => {
    dropped += piece.length;
    if (dropped > MAX_DROPPED) body.destroy();
  });
  body.resume();
}

/**
 * Throws what the reading of a multipart form failed with, as its sender's error: limits have a status of their own, and all
 * else that the parser finds is the form's fault. Errors of the system stay what they are.
 */
export function rejectForm(error: unknown): never {
  if (error instanceof HoldfastError || (error instanceof Error && 'syscall' in error)) throw error;
  if (error instanceof Error && 'statusCode' in error && error.statusCode === 413) {
    throw new HoldfastError('payload_too_large', 'The form exceeds the limit on number or size of parts');
  }
  throw new HoldfastError('bad_request', 'The body is not a valid multipart form');
}
