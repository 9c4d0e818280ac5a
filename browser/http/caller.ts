import type { FastifyRequest } from 'fastify';
import { PAGE_HEADER } from '../../contract/computer.ts';
import { INVOCATION_HEADER, MANAGED_AUTH_HEADER, PROJECTS_HEADER } from '../../contract/browsers.ts';

/** Project of callers that name none; every installation has it. */
const DEFAULT_PROJECT = 'prj_default';

/** The project a request acts in: its session's for a session token, else the one in its header. */
export function projectOf(request: FastifyRequest): string {
  if (request.tokenProject !== null) return request.tokenProject;
  return headerOf(request, 'x-kernel-project-id') ?? DEFAULT_PROJECT;
}

/** The projects whose sessions a request may see. The one it acts in comes first, so that names resolve there first. */
export function projectsOf(request: FastifyRequest): string[] {
  const header = request.headers[PROJECTS_HEADER];
  const others = typeof header === 'string' && request.tokenProject === null ? header.split(',') : [];
  return [...new Set([projectOf(request), ...others])].filter((project) => project !== '');
}

/** The invocation whose program opens a session; undefined for other callers. */
export function invocationOf(request: FastifyRequest): string | undefined {
  return headerOf(request, INVOCATION_HEADER);
}

/** Target id of the page that input is meant for; null for the active page. */
export function pageOf(request: FastifyRequest): string | null {
  return headerOf(request, PAGE_HEADER) ?? null;
}

function headerOf({ headers }: FastifyRequest, name: string): string | undefined {
  const header = headers[name];
  return typeof header === 'string' && header !== '' ? header : undefined;
}

/** True for the session of a login or a health check, whose typed text must stay out of telemetry. */
export function isManagedAuth(request: FastifyRequest): boolean {
  return request.headers[MANAGED_AUTH_HEADER] === 'true';
}

/** The WebSocket base URL by which the caller reached us, directly or forwarded (`X-Forwarded-Host`, `-Proto`); no trailing slash. */
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
