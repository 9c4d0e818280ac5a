import type { FastifyRequest } from 'fastify';
import { PAGE_HEADER } from '../../contract/computer.ts';
import { INVOCATION_HEADER, MANAGED_AUTH_HEADER, PROJECTS_HEADER } from '../../contract/browsers.ts';

/** Project of callers that name none: the one every installation has. */
const DEFAULT_PROJECT = 'prj_default';

/** The project a request acts in: its session's, for a session's token; else what the header of the key's holder says. */
export function projectOf(request: FastifyRequest): string {
  if (request.tokenProject !== null) return request.tokenProject;
  const header = request.headers['x-kernel-project-id'];
  return typeof header === 'string' && header !== '' ? header : DEFAULT_PROJECT;
}

/** The projects whose sessions a request may see, the one that it acts in first: names are looked for there before elsewhere. */
export function projectsOf(request: FastifyRequest): string[] {
  const header = request.headers[PROJECTS_HEADER];
  const others = typeof header === 'string' && request.tokenProject === null ? header.split(',') : [];
  return [...new Set([projectOf(request), ...others])].filter((project) => project !== '');
}

/** The invocation whose program opens a session; undefined for everybody else. */
export function invocationOf(request: FastifyRequest): string | undefined {
  const header = request.headers[INVOCATION_HEADER];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

/** The page that input is for, by its target id; null when it is for whichever is in front. */
export function pageOf(request: FastifyRequest): string | null {
  const header = request.headers[PAGE_HEADER];
  return typeof header === 'string' && header !== '' ? header : null;
}

/**
 * True for the session of a login or a health check: whoever drives those says so, so that nothing of what a person types
 * comes into telemetry. A service that does not know the header ignores it.
 */
export function isManagedAuth(request: FastifyRequest): boolean {
  return request.headers[MANAGED_AUTH_HEADER] === 'true';
}

/**
 * Where the caller reached us, as a websocket URL without a trailing slash: through another service (which tells by
 * `X-Forwarded-Host` and `-Proto`) or directly.
 */
export function websocketBaseOf({ headers, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>): string {
  const host = firstOf(headers['x-forwarded-host']) ?? headers.host ?? 'localhost';
  const secure = (firstOf(headers['x-forwarded-proto']) ?? protocol) === 'https';
  return `${secure ? 'wss' : 'ws'}://${host}`;
}

function firstOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  const first = text?.split(',')[0]?.trim();
  return first === undefined || first === '' || /[^\w.:[\]-]/.test(first) ? undefined : first;
}
