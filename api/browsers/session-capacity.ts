import { request as ask } from 'undici';
import { z } from 'zod';
import { PROJECTS_HEADER } from '../../contract/browsers.ts';
import { SessionUsage } from '../../contract/organization-limits.ts';
import type { ApiDeps } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** How long the browser service may take to tell how many sessions it has room for, in milliseconds. */
const ANSWER_TIMEOUT_MS = 5_000;
/** How long its answer counts, in milliseconds: it changes only when the service is started anew. */
const KNOWN_FOR_MS = 15_000;

const Health = z.object({ max_sessions: z.int() });

/** How many sessions the browser service has room for; undefined where it does not say. It is asked once for many readers. */
export function createSessionCapacity({ settings, clock }: Pick<ApiDeps, 'settings' | 'clock'>) {
  let known: { at: number; room: Promise<number | undefined> } | null = null;
  return (): Promise<number | undefined> => {
    const now = clock().getTime();
    if (known === null || now - known.at >= KNOWN_FOR_MS || now < known.at)
      known = { at: now, room: readRoom(settings.browserBaseUrl) };
    return known.room;
  };
}

async function readRoom(browserBaseUrl: string): Promise<number | undefined> {
  try {
    const { body } = await ask(new URL('/health', browserBaseUrl), {
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
    });
    return Health.parse(await body.json()).max_sessions;
  } catch {
    return undefined;
  }
}

/** How many sessions the projects have now, and how many more there is room for; null where the browser service does not say. */
export async function readSessionUsage(
  { browserService }: Pick<ApiParts, 'browserService'>,
  [projectId, ...others]: readonly string[],
): Promise<SessionUsage | null> {
  if (projectId === undefined) return null;
  const headers = { [PROJECTS_HEADER]: others.join(',') };
  const call = { method: 'GET', path: '/session_usage', projectId, headers } as const;
  return browserService.call({ ...call, schema: SessionUsage, timeoutMs: ANSWER_TIMEOUT_MS }).catch(() => null);
}
