import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_LIFETIME_MS } from '../../contract/people.ts';
import { readCookie, writeCookie, type HttpOnlyCookie } from '../cookies.ts';

const cookieFor = (publicUrl: string): HttpOnlyCookie => ({ name: 'holdfast_session', sameSite: 'Lax', publicUrl });

/** The token of the console's session that a request carries; null without one. */
export function consoleTokenOf(request: Pick<FastifyRequest, 'headers'>, publicUrl: string): string | null {
  return readCookie(request, cookieFor(publicUrl));
}

/** Has the browser keep the token of a session. */
export function keepConsoleToken(reply: FastifyReply, publicUrl: string, token: string): void {
  writeCookie(reply, cookieFor(publicUrl), token, SESSION_LIFETIME_MS / 1000);
}

/** Has the browser forget it. */
export function dropConsoleToken(reply: FastifyReply, publicUrl: string): void {
  writeCookie(reply, cookieFor(publicUrl), '', 0);
}
