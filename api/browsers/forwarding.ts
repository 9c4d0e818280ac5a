import type { IncomingHttpHeaders } from 'node:http';
import { INVOCATION_HEADER, PROJECTS_HEADER } from '../../contract/browsers.ts';
import type { ProgramCaller } from '../caller.ts';
import type { ApiSettings } from '../context.ts';

/** Headers of a caller that end here: they are ours to say, or none of the browser service's business. */
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
 * What the browser service is told instead: where the caller reached us (it builds the URLs that it hands out from it)
 * and, for a caller that we have authenticated, our key and the projects that the request may see,
 * the one that it acts in first.
 */
export function forwardedHeaders(
  settings: ApiSettings,
  headers: IncomingHttpHeaders,
  projects: readonly string[] | null,
  program: ProgramCaller | null = null,
): IncomingHttpHeaders {
  const kept = Object.fromEntries(Object.entries(headers).filter(([name]) => !DROPPED.has(name.toLowerCase())));
  // A program reaches us by an address that nobody else knows.
  const publicUrl = new URL(program === null ? settings.publicUrl : `http://${program.host}`);
  return {
    ...kept,
    'x-forwarded-host': publicUrl.host,
    'x-forwarded-proto': publicUrl.protocol.replace(':', ''),
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

/** The browser service checks such a token itself; a bearer beside it is not looked at and not passed on. */
export function hasBrowserToken(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'jwt' in query && query.jwt !== '';
}

/** True for a path that stays below /browsers or /browser_pools however it is decoded. */
export function isBrowserPath(path: string): boolean {
  try {
    const parts = decodeURIComponent(path).replaceAll('\\', '/').split('/');
    const isOurs = parts[1] === 'browsers' || parts[1] === 'browser_pools';
    return isOurs && !parts.includes('..') && !parts.includes('.');
  } catch {
    return false;
  }
}
