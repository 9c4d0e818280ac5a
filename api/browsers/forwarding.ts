import type { IncomingHttpHeaders } from 'node:http';
import { INVOCATION_HEADER, PROJECTS_HEADER } from '../../contract/browsers.ts';
import type { ProgramCaller } from '../caller.ts';
import type { ApiSettings } from '../context.ts';

/** Headers that are not forwarded: the API sets them itself, or they are not for the browser service. */
const DROPPED = new Set([
  'authorization',
  'cookie',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-kernel-project',
  'x-kernel-project-id',
  PROJECTS_HEADER,
  INVOCATION_HEADER,
  'x-real-ip',
]);

/**
 * Headers for the browser service: the caller's own, the public address and, for an authenticated
 * caller, the service's key and the projects that the request may see, the one it writes to first. `projects` is null for a
 * caller with a browser token.
 */
export function forwardedHeaders(
  settings: ApiSettings,
  headers: IncomingHttpHeaders,
  projects: readonly string[] | null,
  program: ProgramCaller | null = null,
): IncomingHttpHeaders {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !DROPPED.has(name.toLowerCase())));
  return {
    ...kept,
    ...publicAddressHeaders(settings, program),
    ...(projects === null
      ? {}
      : {
          authorization: `Bearer ${settings.browserApiKey}`,
          'x-kernel-project-id': projects[0] ?? '',
          [PROJECTS_HEADER]: projects.join(','),
          ...(program === null ? {} : { [INVOCATION_HEADER]: program.invocationId }),
        }),
  };
}

/** Tells the browser service the address by which the caller reached the API, which session URLs are built from. */
export function publicAddressHeaders({ publicUrl }: ApiSettings, program: ProgramCaller | null) {
  // Programs reach the API by an internal address.
  const { host, protocol } = new URL(program === null ? publicUrl : `http://${program.host}`);
  return { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.replace(':', '') };
}

/** Whether a query has a browser token, which the browser service verifies; a bearer token is then ignored and not forwarded. */
export function hasBrowserToken(query: unknown): query is { jwt: unknown } {
  return typeof query === 'object' && query !== null && 'jwt' in query && query.jwt !== '';
}

/** Whether a path stays below /browsers or /browser_pools however it is decoded. */
export function isBrowserPath(path: string): boolean {
  try {
    const parts = decodeURIComponent(path).replaceAll('\\', '/').split('/');
    const isOurs = parts[1] === 'browsers' || parts[1] === 'browser_pools';
    return isOurs && !parts.includes('..') && !parts.includes('.');
  } catch {
    return false;
  }
}
