import { request } from 'undici';
import { z } from 'zod';
import { PROJECTS_HEADER } from '../../contract/browsers.ts';
import { SessionUsage } from '../../contract/organization-limits.ts';
import type { ApiDeps } from '../context.ts';
import type { ApiParts } from '../parts.ts';

const RESPONSE_TIMEOUT_MS = 5_000;
/** How long the capacity is cached, in milliseconds; it changes only when the browser service restarts. */
const CACHE_MS = 15_000;

const Health = z.object({ max_sessions: z.int() });

/** Creates a cached reader of the browser service's session capacity, which is undefined if the service does not report it. */
export function createSessionCapacity({ settings, clock }: Pick<ApiDeps, 'settings' | 'clock'>) {
  let cached: { at: number; capacity: Promise<number | undefined> } | null = null;
  return (): Promise<number | undefined> => {
    const now = clock().getTime();
    if (cached === null || now - cached.at >= CACHE_MS || now < cached.at)
      cached = { at: now, capacity: readCapacity(settings.browserBaseUrl) };
    return cached.capacity;
  };
}

async function readCapacity(browserBaseUrl: string): Promise<number | undefined> {
  try {
    const { body } = await request(new URL('/health', browserBaseUrl), {
      headersTimeout: RESPONSE_TIMEOUT_MS,
      bodyTimeout: RESPONSE_TIMEOUT_MS,
    });
    return Health.parse(await body.json()).max_sessions;
  } catch {
    return undefined;
  }
}

/** Sessions in use by the projects, and sessions still available; null if the browser service does not report them. */
export async function readSessionUsage(
  { browserService }: Pick<ApiParts, 'browserService'>,
  [projectId, ...others]: readonly string[],
): Promise<SessionUsage | null> {
  if (projectId === undefined) return null;
  const headers = { [PROJECTS_HEADER]: others.join(',') };
  const call = { method: 'GET', path: '/session_usage', projectId, headers } as const;
  return browserService.call({ ...call, schema: SessionUsage, timeoutMs: RESPONSE_TIMEOUT_MS }).catch(() => null);
}
