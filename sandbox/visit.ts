import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SiteState } from './state.ts';
import { findUser, type SandboxUser } from './users.ts';

/** Name of the cookie that holds the session id. */
export const SESSION_COOKIE = 'sandbox_session';
/** Name of the cookie that holds a login that is not finished. */
export const PENDING_COOKIE = 'sandbox_pending';

const PERSISTENT_SECONDS = 30 * 24 * 3600;

/** How long the browser keeps the session cookie: a month, or until it is closed. */
export type CookieKind = 'persistent' | 'session-only';

/** Attributes of the session cookie. */
export function sessionCookie(kind: CookieKind) {
  return {
    path: '/',
    httpOnly: true,
    sameSite: 'lax' as const,
    ...(kind === 'persistent' ? { maxAge: PERSISTENT_SECONDS } : {}),
  };
}

/** The session's user of a request, if there is one. */
export function visitor(state: SiteState, request: FastifyRequest): SandboxUser | undefined {
  return state.sessionUser(request.cookies[SESSION_COOKIE]);
}

/** Finishes a login: session cookie set, pending login forgotten, on to the account page or another. */
export function signIn(
  state: SiteState,
  request: FastifyRequest,
  reply: FastifyReply,
  username: string,
  kind: CookieKind,
  landing = '/account',
): FastifyReply {
  endPending(state, request, reply);
  void reply.setCookie(SESSION_COOKIE, state.openSession(username), {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    ...(kind === 'persistent' ? { maxAge: PERSISTENT_SECONDS } : {}),
  });
  return reply.redirect(landing, 303);
}

/** Remembers a login that goes on to another page. */
export function beginPending(
  state: SiteState,
  reply: FastifyReply,
  username: string,
  page: string,
  passwordGiven: boolean,
): string {
  const id = state.openPending(username, page, passwordGiven);
  void reply.setCookie(PENDING_COOKIE, id, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
  });
  return id;
}

/** Forgets a login that is not finished. */
export function endPending(state: SiteState, request: FastifyRequest, reply: FastifyReply): void {
  state.closePending(request.cookies[PENDING_COOKIE]);
  void reply.clearCookie(PENDING_COOKIE, { path: '/' });
}

/** The login that this browser has begun on a page, if any. */
export function pendingOf(state: SiteState, request: FastifyRequest, page: string) {
  const pending = state.pending(request.cookies[PENDING_COOKIE]);
  return pending?.page === page ? pending : undefined;
}

/** A posted form as plain strings; what is missing is an empty string. */
export function posted(request: FastifyRequest, name: string): string {
  const body: unknown = request.body;
  if (typeof body !== 'object' || body === null) return '';
  const value: unknown = Reflect.get(body, name);
  return typeof value === 'string' ? value : '';
}

/** A value of the query string. */
export function asked(request: FastifyRequest, name: string): string {
  const query: unknown = request.query;
  if (typeof query !== 'object' || query === null) return '';
  const value: unknown = Reflect.get(query, name);
  return typeof value === 'string' ? value : '';
}

/**
 * Checks a user name and password and counts the post. `final` says whether the password alone signs in on this page.
 * @returns the user, or undefined when either is wrong: the site does not say which.
 */
export function checkPassword(
  state: SiteState,
  page: string,
  identifier: string,
  password: string,
  final: boolean,
): SandboxUser | undefined {
  const user = findUser(identifier);
  const right = user !== undefined && state.passwordMatches(user.username, password);
  state.count(user?.username ?? identifier, page, 'password', right ? (final ? true : undefined) : false);
  return right ? user : undefined;
}

/** Answers a page. */
export function show(reply: FastifyReply, body: string, status = 200): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').type('text/html; charset=utf-8').send(body);
}
