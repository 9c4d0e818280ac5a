import type { FastifyReply, FastifyRequest } from 'fastify';
import { HOSTED_TOKEN_LIFETIME_S } from '../../contract/limits.ts';

/** Ids that may stand in a cookie's name and in a path of ours. */
const CONNECTION_ID = /^[A-Za-z0-9_-]{1,128}$/;

/** True for a path parameter that can be a connection's id. */
export function isConnectionId(value: string): boolean {
  return CONNECTION_ID.test(value);
}

/** The hosted page's cookie: it holds the token of one flow, out of reach of scripts and of other sites. */
export interface SessionCookie {
  read(request: FastifyRequest, connectionId: string): string | null;
  write(reply: FastifyReply, connectionId: string, jwt: string): void;
}

/**
 * One cookie per connection, so that two logins in one browser leave each other alone. Browsers accept the `__Host-`
 * prefix on https only; a plain http installation does without it and without `Secure`.
 */
export function createSessionCookie(publicUrl: string): SessionCookie {
  const secure = new URL(publicUrl).protocol === 'https:';
  const nameOf = (connectionId: string) => `${secure ? '__Host-' : ''}holdfast_login_${connectionId}`;
  return {
    read(request, connectionId) {
      const prefix = `${nameOf(connectionId)}=`;
      const pair = (request.headers.cookie ?? '').split(/; */).find((one) => one.startsWith(prefix));
      const value = pair?.slice(prefix.length) ?? '';
      return /^[A-Za-z0-9._-]{1,4096}$/.test(value) ? value : null;
    },
    write(reply, connectionId, jwt) {
      const parts = [`${nameOf(connectionId)}=${jwt}`, 'Path=/', `Max-Age=${HOSTED_TOKEN_LIFETIME_S}`];
      const flags = ['HttpOnly', 'SameSite=Strict', ...(secure ? ['Secure'] : [])];
      void reply.header('set-cookie', [...parts, ...flags].join('; '));
    },
  };
}
