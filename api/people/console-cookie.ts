import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_LIFETIME_MS } from '../../contract/people.ts';
import { readCookie, writeCookie, type HttpOnlyCookie } from '../cookies.ts';

const cookieFor = (publicUrl: string): HttpOnlyCookie => ({ name: 'holdfast_session', sameSite: 'Lax', publicUrl });

/** The console session token of a request; null without one. */
export function consoleTokenOf(request: Pick<FastifyRequest, 'headers'>, publicUrl: string): string | null {
  return readCookie(request, cookieFor(publicUrl));
}

/** Sets the session cookie. */
export function setConsoleCookie(reply: FastifyReply, publicUrl: string, token: string): void {
  writeCookie(reply, cookieFor(publicUrl), token, SESSION_LIFETIME_MS / 1000);
}

/** Clears the session cookie. */
export function clearConsoleCookie(reply: FastifyReply, publicUrl: string): void {
  writeCookie(reply, cookieFor(publicUrl), '', 0);
}
