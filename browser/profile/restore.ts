import type { Chromium } from '../chromium/launch.ts';
import type { BlankPage } from './blank-page.ts';
import { borrowPage, openBlankPage } from './blank-page.ts';
import { readCookies, writeCookies } from './cookies.ts';
import type { ProfileOrigin, ProfileState } from '../../store/profile-state/state.ts';
import { writeStorageExpression } from './storage-script.ts';

/** Hidden pages that restore origins side by side. */
const PARALLEL_PAGES = 3;

/** What came of putting a profile into a browser. */
export interface RestoreResult {
  /** The state as the browser shows it now: it may have shortened or dropped what it does not accept. */
  baseline: ProfileState;
  /** Cookies that the browser refused, and origins that could not be restored as a whole. */
  faults: number;
}

/**
 * Puts a profile's state into a browser. Session storage belongs to a tab: it goes into the first page, and only when
 * `fresh` says that nobody uses that page yet.
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
    inTab.length === 0 || page === undefined ? [] : restoreIn(() => borrowPage(cdp, page.sessionId), inTab),
    ...split(hidden, PARALLEL_PAGES).map((share) => restoreIn(() => openBlankPage(cdp, contextId), share)),
  ]);
  const faulty = new Set(damaged.flat());
  // Where the first page stood meanwhile was not the caller's doing.
  if (fresh) pages.forgetVisits();
  const cookies = live.length === 0 ? [] : await readCookies(cdp, contextId);
  return {
    baseline: {
      cookies,
      // What never got into the browser must not look as if the session had deleted it.
      origins: state.origins.map((origin) =>
        faulty.has(origin.origin)
          ? { origin: origin.origin, localStorage: {}, sessionStorage: {}, indexedDB: [] }
          : origin,
      ),
    },
    faults: refused + faulty.size,
  };
}

/** Gives the origins that could not be restored as a whole. */
async function restoreIn(open: () => Promise<BlankPage>, origins: ProfileOrigin[]): Promise<string[]> {
  const blank = await open();
  const faulty: string[] = [];
  try {
    for (const origin of origins) {
      const faults = await blank.runAt(origin.origin, writeStorageExpression(origin));
      if (faults !== 0) faulty.push(origin.origin);
    }
  } finally {
    await blank.close();
  }
  return faulty;
}

/** Deals items out to at most `count` shares, none of them empty. */
export function split<T>(items: T[], count: number): T[][] {
  const shares: T[][] = Array.from({ length: Math.min(count, items.length) }, () => []);
  for (const [index, item] of items.entries()) shares[index % shares.length]?.push(item);
  return shares;
}
