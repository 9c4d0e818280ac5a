import type { FastifyReply, FastifyRequest } from 'fastify';

/** A cookie that scripts cannot read. */
export interface HttpOnlyCookie {
  name: string;
  sameSite: 'Strict' | 'Lax';
  /** Public base URL: https adds `Secure` and the `__Host-` prefix, which plain http cannot have. */
  publicUrl: string;
}

/** The value of a cookie; null if it is missing or has characters that our tokens never contain. */
export function readCookie(request: Pick<FastifyRequest, 'headers'>, cookie: HttpOnlyCookie): string | null {
  const prefix = `${fullNameOf(cookie)}=`;
  const pair = (request.headers.cookie ?? '').split(/; */).find((one) => one.startsWith(prefix));
  const value = pair?.slice(prefix.length) ?? '';
  return /^[A-Za-z0-9._-]{1,4096}$/.test(value) ? value : null;
}

/** Sets a cookie; a `maxAgeSeconds` of 0 deletes it. */
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
