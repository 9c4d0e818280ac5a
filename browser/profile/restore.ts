import type { Chromium } from '../chromium/launch.ts';
import { borrowPage, openBlankPage, type BlankPage } from './blank-page.ts';
import { readCookies, writeCookies } from './cookies.ts';
import type { ProfileOrigin, ProfileState } from '../../store/profile-state/state.ts';
import { writeStorageExpression } from './storage-script.ts';

/** Hidden pages that read or restore origins in parallel. */
export const PARALLEL_PAGES = 3;

interface RestoreResult {
  /** The state as read back from the browser, which may have changed or dropped parts of it. */
  baseline: ProfileState;
  /** Number of refused cookies and incompletely restored origins. */
  faults: number;
}

/**
 * Restores a profile's state in a browser. Session storage belongs to a tab, so it is only restored if the active page is
 * still unused (`fresh`).
 */
export async function restoreState(chromium: Chromium, state: ProfileState, fresh: boolean): Promise<RestoreResult> {
  const { cdp, pages } = chromium;
  const contextId = pages.defaultContextId();
  const nowSeconds = Date.now() / 1000;
  const live = state.cookies.filter((cookie) => cookie.expires === undefined || cookie.expires > nowSeconds);
  const page = pages.active();
  const needsTab = (origin: ProfileOrigin): boolean => fresh && Object.keys(origin.sessionStorage).length > 0;
  const inTab = page === undefined ? [] : state.origins.filter(needsTab);
  const hidden = state.origins
    .filter((origin) => !inTab.includes(origin))
    .map((origin) => ({ ...origin, sessionStorage: {} }));

  const [refused, ...damaged] = await Promise.all([
    writeCookies(cdp, contextId, live),
    inTab.length === 0 || page === undefined ? [] : restoreOrigins(() => borrowPage(cdp, page.sessionId), inTab),
    ...distribute(hidden, PARALLEL_PAGES).map((share) => restoreOrigins(() => openBlankPage(cdp, contextId), share)),
  ]);
  const faulty = new Set(damaged.flat());
  // The page's visits so far were not the caller's.
  if (fresh) pages.forgetVisits();
  const cookies = live.length === 0 ? [] : await readCookies(cdp, contextId);
  return {
    baseline: {
      cookies,
      // Data that was not restored must not look as if the session had deleted it.
      origins: state.origins.map((origin) =>
        faulty.has(origin.origin)
          ? { origin: origin.origin, localStorage: {}, sessionStorage: {}, indexedDB: [] }
          : origin,
      ),
    },
    faults: refused + faulty.size,
  };
}

/** Returns the origins that could not be restored completely. */
async function restoreOrigins(open: () => Promise<BlankPage>, origins: ProfileOrigin[]): Promise<string[]> {
  const blank = await open();
  const faulty: string[] = [];
  try {
    for (const origin of origins) {
      const faults = await blank.evaluateAt(origin.origin, writeStorageExpression(origin));
      if (faults !== 0) faulty.push(origin.origin);
    }
  } finally {
    await blank.close();
  }
  return faulty;
}

/** Distributes items over at most `count` non-empty groups. */
export function distribute<T>(items: T[], count: number): T[][] {
  const groups: T[][] = Array.from({ length: Math.min(count, items.length) }, () => []);
  for (const [index, item] of items.entries()) groups[index % groups.length]?.push(item);
  return groups;
}
