import type { FastifyReply, FastifyRequest } from 'fastify';

/** A cookie out of reach of scripts. */
export interface HttpOnlyCookie {
  name: string;
  sameSite: 'Strict' | 'Lax';
  /** The base URL that people reach us by: https adds `Secure` and the `__Host-` prefix, which plain http cannot have. */
  publicUrl: string;
}

/** Its value, as far as it consists of characters that our tokens have; null without one. */
export function readCookie(request: Pick<FastifyRequest, 'headers'>, cookie: HttpOnlyCookie): string | null {
  const prefix = `${fullNameOf(cookie)}=`;
  const pair = (request.headers.cookie ?? '').split(/; */).find((one) => one.startsWith(prefix));
  const value = pair?.slice(prefix.length) ?? '';
  return /^[A-Za-z0-9._-]{1,4096}$/.test(value) ? value : null;
}

/** Has the browser keep a cookie for some seconds; 0 takes it away. */
export function writeCookie(reply: FastifyReply, cookie: HttpOnlyCookie, value: string, maxAgeSeconds: number): void {
  const parts = [`${fullNameOf(cookie)}=${value}`, 'Path=/', `Max-Age=${maxAgeSeconds}`];
  const flags = ['HttpOnly', `SameSite=${cookie.sameSite}`, ...(isSecure(cookie) ? ['Secure'] : [])];
  void reply.header('set-cookie', [...parts, ...flags].join('; '));
}

function fullNameOf(cookie: HttpOnlyCookie): string {
  return `${isSecure(cookie) ? '__Host-' : ''}${cookie.name}`;
}

function isSecure({ publicUrl }: HttpOnlyCookie): boolean {
  return new URL(publicUrl).protocol === 'https:';
}
