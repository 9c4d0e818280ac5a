import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SiteState } from './state.ts';
import { findUser, type SandboxUser } from './users.ts';

/** Session id cookie. */
export const SESSION_COOKIE = 'sandbox_session';
/** Cookie of an unfinished login. */
export const PENDING_COOKIE = 'sandbox_pending';

const PERSISTENT_SECONDS = 30 * 24 * 3600;

/** Whether the session cookie lasts a month, or until the browser is closed. */
type CookieKind = 'persistent' | 'session-only';

/** Attributes of the session cookie. */
export function sessionCookie(kind: CookieKind) {
  return {
    path: '/',
    httpOnly: true,
    sameSite: 'lax' as const,
    ...(kind === 'persistent' ? { maxAge: PERSISTENT_SECONDS } : {}),
  };
}

/** The signed-in user of a request, if any. */
export function visitor(state: SiteState, request: FastifyRequest): SandboxUser | undefined {
  return state.sessionUser(request.cookies[SESSION_COOKIE]);
}

/** Completes a login: sets the session cookie, removes the pending login, redirects to `landing`. */
export function signIn(
  state: SiteState,
  request: FastifyRequest,
  reply: FastifyReply,
  username: string,
  kind: CookieKind,
  landing = '/account',
): FastifyReply {
  endPending(state, request, reply);
  void reply.setCookie(SESSION_COOKIE, state.openSession(username), sessionCookie(kind));
  return reply.redirect(landing, 303);
}

/** Stores a login that continues on another page. */
export function beginPending(
  state: SiteState,
  reply: FastifyReply,
  username: string,
  page: string,
  passwordGiven: boolean,
): string {
  const id = state.openPending(username, page, passwordGiven);
  void reply.setCookie(PENDING_COOKIE, id, sessionCookie('session-only'));
  return id;
}

/** Removes an unfinished login. */
function endPending(state: SiteState, request: FastifyRequest, reply: FastifyReply): void {
  state.closePending(request.cookies[PENDING_COOKIE]);
  void reply.clearCookie(PENDING_COOKIE, { path: '/' });
}

/** The login that this browser started on a page, if any. */
export function pendingOf(state: SiteState, request: FastifyRequest, page: string) {
  const pending = state.pending(request.cookies[PENDING_COOKIE]);
  return pending?.page === page ? pending : undefined;
}

/** A value of the posted form, or an empty string. */
export function posted(request: FastifyRequest, name: string): string {
  return textAt(request.body, name);
}

/** A value of the query string, or an empty string. */
export function queried(request: FastifyRequest, name: string): string {
  return textAt(request.query, name);
}

function textAt(values: unknown, name: string): string {
  if (typeof values !== 'object' || values === null) return '';
  const value: unknown = Reflect.get(values, name);
  return typeof value === 'string' ? value : '';
}

/**
 * Checks a user name and password and counts the post. `final`: whether the password alone signs in on this page.
 * @returns the user, or undefined if either is wrong.
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

/** Sends a page. */
export function show(reply: FastifyReply, body: string, status = 200): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').type('text/html; charset=utf-8').send(body);
}
