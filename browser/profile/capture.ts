import type { Protocol } from 'devtools-protocol';
import { inTime } from '../../contract/in-time.ts';
import { z } from 'zod';
import type { Chromium } from '../chromium/launch.ts';
import type { Page } from '../chromium/pages.ts';
import { evaluateInIsolatedWorld, openBlankPage } from './blank-page.ts';
import { readCookies } from './cookies.ts';
import { split } from './restore.ts';
import type { ProfileState } from '../../store/profile-state/state.ts';
import { ProfileOrigin } from '../../store/profile-state/state.ts';
import { READ_SESSION_STORAGE, READ_STORAGE } from './storage-script.ts';

/** Hidden pages that read origins side by side. */
const PARALLEL_PAGES = 3;
/** A page that hangs is left out after this long, in milliseconds. */
const LIVE_PAGE_TIMEOUT_MS = 2_000;

const ReadOrigin = ProfileOrigin.extend({ unread: z.array(z.string()), skipped: z.number() });
const ReadSessionStorage = z.object({ origin: z.string(), sessionStorage: z.record(z.string(), z.string()) });

/** What a browser keeps now. */
export interface Captured {
  state: ProfileState;
  /** Records and databases that could not be read (keys that may not leave the browser, caches beyond the bounds). */
  skipped: number;
}

/**
 * Reads the state of a browser: cookies, and the storage of every origin that the session has been at. Origins it has
 * not been at are as they were in `baseline`. Session storage is read from the pages that are open; of origins without
 * an open page it stays as it was.
 */
export async function captureState(chromium: Chromium, baseline: ProfileState): Promise<Captured> {
  const { cdp, pages } = chromium;
  const contextId = pages.defaultContextId();
  // An open page can tell of its own origin; for the others a page has to be opened.
  const [cookies, sessionStorages, live] = await Promise.all([
    readCookies(cdp, contextId),
    readLiveSessionStorage(chromium),
    readLiveOrigins(chromium),
  ]);
  const visited = [...new Set([...pages.visitedOrigins(), ...sessionStorages.keys()])];
  const elsewhere = visited.filter((origin) => !live.has(origin));
  const read = [
    ...visited.flatMap((origin) => live.get(origin) ?? []),
    ...(await Promise.all(split(elsewhere, PARALLEL_PAGES).map((origins) => readOrigins(chromium, origins)))).flat(),
  ];

  const origins = new Map(baseline.origins.map((origin) => [origin.origin, origin]));
  let skipped = 0;
  for (const { skipped: records, unread, ...origin } of read) {
    skipped += records + unread.length;
    const before = origins.get(origin.origin);
    const sessionStorage = sessionStorages.get(origin.origin) ?? before?.sessionStorage ?? {};
    // A database that could not be read has not been deleted: it stays as it was.
    const kept = (before?.indexedDB ?? []).filter(({ name }) => unread.includes(name));
    origins.set(origin.origin, { ...origin, sessionStorage, indexedDB: [...origin.indexedDB, ...kept] });
  }
  return { state: { cookies, origins: [...origins.values()] }, skipped };
}

async function readOrigins(chromium: Chromium, origins: string[]): Promise<z.infer<typeof ReadOrigin>[]> {
  const blank = await openBlankPage(chromium.cdp, chromium.pages.defaultContextId());
  try {
    const read: z.infer<typeof ReadOrigin>[] = [];
    for (const origin of origins) read.push(ReadOrigin.parse(await blank.runAt(origin, READ_STORAGE)));
    return read;
  } finally {
    await blank.close();
  }
}

/** Storage of the origins that open pages stand at. */
async function readLiveOrigins(chromium: Chromium): Promise<Map<string, z.infer<typeof ReadOrigin>>> {
  const { cdp } = chromium;
  const found = await Promise.all(
    openPages(chromium).map((page) =>
      unlessLate(async () => {
        const { frameTree } = await cdp.send('Page.getFrameTree', undefined, page.sessionId);
        if (!/^https?:/.test(frameTree.frame.securityOrigin)) return null;
        const origin = ReadOrigin.parse(
          await evaluateInIsolatedWorld(cdp, page.sessionId, frameTree.frame.id, READ_STORAGE),
        );
        return origin.origin === frameTree.frame.securityOrigin ? origin : null;
      }),
    ),
  );
  return new Map(found.filter((origin) => origin !== null).map((origin) => [origin.origin, origin]));
}

/** Session storage by origin, of all open pages; where two differ, the page used last wins. */
async function readLiveSessionStorage(chromium: Chromium): Promise<Map<string, Record<string, string>>> {
  const found = await Promise.all(openPages(chromium).map((page) => readPage(chromium, page)));
  return new Map(found.flat().map(({ origin, sessionStorage }) => [origin, sessionStorage]));
}

/** Pages that a profile is made of, and that can answer. */
function openPages({ pages }: Chromium): Page[] {
  const contextId = pages.defaultContextId();
  return pages.all().filter((page) => page.browserContextId === contextId && page.dialog === null);
}

async function readPage(chromium: Chromium, page: Page): Promise<z.infer<typeof ReadSessionStorage>[]> {
  const { cdp } = chromium;
  const read = await unlessLate(async () => {
    const { frameTree } = await cdp.send('Page.getFrameTree', undefined, page.sessionId);
    const frame = frameTree.frame;
    const results = [
      ReadSessionStorage.parse(await evaluateInIsolatedWorld(cdp, page.sessionId, frame.id, READ_SESSION_STORAGE)),
    ];
    // Frames of the same origin share the page's; of others on the same site there is one for each.
    for (const child of framesBelow(frameTree)) {
      if (!chromium.pages.visitedOrigins().has(child.securityOrigin)) continue;
      results.unshift(
        ReadSessionStorage.parse(await evaluateInIsolatedWorld(cdp, page.sessionId, child.id, READ_SESSION_STORAGE)),
      );
    }
    return results.filter(({ origin }) => /^https?:/.test(origin));
  });
  return read ?? [];
}

/** What a page says of itself. One that closes or hangs says nothing (null); cookies do not depend on it. */
async function unlessLate<Said>(ask: () => Promise<Said>): Promise<Said | null> {
  return inTime(
    ask().catch(() => null),
    LIVE_PAGE_TIMEOUT_MS,
    null,
  );
}

function framesBelow(tree: Protocol.Page.FrameTree): Protocol.Page.Frame[] {
  return (tree.childFrames ?? []).flatMap((child) => [child.frame, ...framesBelow(child)]);
}
