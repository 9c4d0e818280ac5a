import type { FastifyReply, FastifyRequest } from 'fastify';
import { HOSTED_TOKEN_LIFETIME_S } from '../../contract/limits.ts';
import { readCookie, writeCookie, type HttpOnlyCookie } from '../cookies.ts';

/** Connection ids, which become part of cookie names and paths. */
const CONNECTION_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** True if a path parameter can be a connection id. */
export function isConnectionId(value: string): boolean {
  return CONNECTION_ID.test(value);
}

/** The hosted page's cookie: it holds the token of one flow, inaccessible to scripts and other sites. */
export interface SessionCookie {
  read(request: FastifyRequest, connectionId: string): string | null;
  write(reply: FastifyReply, connectionId: string, jwt: string): void;
}

/** One cookie per connection, so that two logins in one browser do not interfere. */
export function createSessionCookie(publicUrl: string): SessionCookie {
  const cookieOf = (connectionId: string): HttpOnlyCookie => ({
    name: `holdfast_login_${connectionId}`,
    sameSite: 'Strict',
    publicUrl,
  });
  return {
    read: (request, connectionId) => readCookie(request, cookieOf(connectionId)),
    write: (reply, connectionId, jwt) => writeCookie(reply, cookieOf(connectionId), jwt, HOSTED_TOKEN_LIFETIME_S),
  };
}
