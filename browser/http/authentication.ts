import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';

/** Throws `unauthorized` unless the request carries the service's key. Compares in constant time. */
export function createBearerCheck(apiKey: string): (request: FastifyRequest) => void {
  const wanted = digest(apiKey);
  return (request) => {
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
    // Both sides are hashed first: equal lengths, and nothing of the key in the comparison's timing.
    if (token === undefined || !timingSafeEqual(digest(token), wanted)) {
      throw new HoldfastError('unauthorized', 'Send the browser service’s API key as `Authorization: Bearer <key>`');
    }
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
