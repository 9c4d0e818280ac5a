import type { Protocol } from 'devtools-protocol';
import { z } from 'zod';
import { withTimeout } from '../../contract/with-timeout.ts';
import type { Chromium } from '../chromium/launch.ts';
import type { Page } from '../chromium/pages.ts';
import { evaluateInIsolatedWorld, openBlankPage } from './blank-page.ts';
import { readCookies } from './cookies.ts';
import { distribute, PARALLEL_PAGES } from './restore.ts';
import { ProfileOrigin, type ProfileState } from '../../store/profile-state/state.ts';
import { READ_SESSION_STORAGE, READ_STORAGE } from './storage-script.ts';

/** Timeout for reading an open page, in milliseconds; a hung page is skipped. */
const LIVE_PAGE_TIMEOUT_MS = 2_000;

const CapturedOrigin = ProfileOrigin.extend({ unread: z.array(z.string()), skipped: z.number() });
const CapturedSessionStorage = z.object({ origin: z.string(), sessionStorage: z.record(z.string(), z.string()) });

/**
 * Captures a browser's state: cookies, and the storage of every visited origin. Origins that were not visited are taken from
 * `baseline`, and so is session storage of origins without an open page. `skipped` counts records and databases that could
 * not be read (non-extractable keys, caches beyond the limits).
 */
export async function captureState(
  chromium: Chromium,
  baseline: ProfileState,
): Promise<{ state: ProfileState; skipped: number }> {
  const { cdp, pages } = chromium;
  const contextId = pages.defaultContextId();
  // Open pages are read in place; the other origins need a blank page.
  const [cookies, sessionStorages, live] = await Promise.all([
    readCookies(cdp, contextId),
    readLiveSessionStorage(chromium),
    readLiveOrigins(chromium),
  ]);
  const visited = [...new Set([...pages.visitedOrigins(), ...sessionStorages.keys()])];
  const closed = visited.filter((origin) => !live.has(origin));
  const read = [
    ...visited.flatMap((origin) => live.get(origin) ?? []),
    ...(await Promise.all(distribute(closed, PARALLEL_PAGES).map((origins) => readOrigins(chromium, origins)))).flat(),
  ];

  const origins = new Map(baseline.origins.map((origin) => [origin.origin, origin]));
  let skipped = 0;
  for (const { skipped: records, unread, ...origin } of read) {
    skipped += records + unread.length;
    const before = origins.get(origin.origin);
    const sessionStorage = sessionStorages.get(origin.origin) ?? before?.sessionStorage ?? {};
    // Unreadable databases were not deleted, so they stay as they were.
    const kept = (before?.indexedDB ?? []).filter(({ name }) => unread.includes(name));
    origins.set(origin.origin, { ...origin, sessionStorage, indexedDB: [...origin.indexedDB, ...kept] });
  }
  return { state: { cookies, origins: [...origins.values()] }, skipped };
}

async function readOrigins(chromium: Chromium, origins: string[]): Promise<z.infer<typeof CapturedOrigin>[]> {
  const blank = await openBlankPage(chromium.cdp, chromium.pages.defaultContextId());
  try {
    const read: z.infer<typeof CapturedOrigin>[] = [];
    for (const origin of origins) read.push(CapturedOrigin.parse(await blank.evaluateAt(origin, READ_STORAGE)));
    return read;
  } finally {
    await blank.close();
  }
}

/** Storage of the origins of open pages. */
async function readLiveOrigins(chromium: Chromium): Promise<Map<string, z.infer<typeof CapturedOrigin>>> {
  const { cdp } = chromium;
  const found = await Promise.all(
    openPages(chromium).map((page) =>
      nullIfUnresponsive(async () => {
        const { frameTree } = await cdp.send('Page.getFrameTree', undefined, page.sessionId);
        if (!/^https?:/.test(frameTree.frame.securityOrigin)) return null;
        const origin = CapturedOrigin.parse(
          await evaluateInIsolatedWorld(cdp, page.sessionId, frameTree.frame.id, READ_STORAGE),
        );
        return origin.origin === frameTree.frame.securityOrigin ? origin : null;
      }),
    ),
  );
  return new Map(found.filter((origin) => origin !== null).map((origin) => [origin.origin, origin]));
}

/** Session storage of all open pages by origin; the most recently opened page wins. */
async function readLiveSessionStorage(chromium: Chromium): Promise<Map<string, Record<string, string>>> {
  const found = await Promise.all(openPages(chromium).map((page) => readPageSessionStorage(chromium, page)));
  return new Map(found.flat().map(({ origin, sessionStorage }) => [origin, sessionStorage]));
}

/** Pages of the profile's context that can respond. */
function openPages({ pages }: Chromium): Page[] {
  const contextId = pages.defaultContextId();
  return pages.all().filter((page) => page.browserContextId === contextId && page.dialog === null);
}

async function readPageSessionStorage(
  chromium: Chromium,
  page: Page,
): Promise<z.infer<typeof CapturedSessionStorage>[]> {
  const { cdp, pages } = chromium;
  const read = await nullIfUnresponsive(async () => {
    const { frameTree } = await cdp.send('Page.getFrameTree', undefined, page.sessionId);
    // Frames of the page's origin share its session storage; other same-site origins have their own. The page itself wins.
    const visited = pages.visitedOrigins();
    const children = framesBelow(frameTree).filter(({ securityOrigin }) => visited.has(securityOrigin));
    const results: z.infer<typeof CapturedSessionStorage>[] = [];
    for (const { id } of [...children.reverse(), frameTree.frame]) {
      const value = await evaluateInIsolatedWorld(cdp, page.sessionId, id, READ_SESSION_STORAGE);
      results.push(CapturedSessionStorage.parse(value));
    }
    return results.filter(({ origin }) => /^https?:/.test(origin));
  });
  return read ?? [];
}

/** Null if the page closes or hangs while it is read. */
function nullIfUnresponsive<T>(read: () => Promise<T>): Promise<T | null> {
  const result = read().catch(() => null);
  return withTimeout(result, LIVE_PAGE_TIMEOUT_MS, null);
}

function framesBelow(tree: Protocol.Page.FrameTree): Protocol.Page.Frame[] {
  return (tree.childFrames ?? []).flatMap((child) => [child.frame, ...framesBelow(child)]);
}
