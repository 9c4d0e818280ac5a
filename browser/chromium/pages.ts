import type { Protocol } from 'devtools-protocol';
import { getDomain } from 'tldts';
import type { CdpConnection } from '../cdp/connection.ts';

/** Marks targets that the service opens for itself: they are nobody's page. */
export const OWN_TARGET_URL = 'about:blank#holdfast';

/** A dialog (alert, confirm, prompt, beforeunload) that holds its page until somebody answers it. */
export interface OpenDialog {
  type: Protocol.Page.DialogType;
  /** What the page says in it. */
  message: string;
  /** What a prompt proposes. */
  defaultPrompt: string;
}

/**
 * Why the page owes no answer any more. `moved`: a document took another's place a while ago, and an answer that the old
 * one owed is lost; what was asked has been handled, or never will be.
 */
export type Interruption = 'dialog' | 'gone' | 'crashed' | 'moved';

/** One page (tab or popup) of a session. */
export interface Page {
  targetId: string;
  /** Our flat session on it. */
  sessionId: string;
  browserContextId: string | undefined;
  /** Address of its main frame. */
  url: string;
  title: string;
  dialog: OpenDialog | null;
  /** Its renderer has ended; a navigation brings it another. */
  crashed: boolean;
  /** Sessions on its frames that run in processes of their own. */
  frameSessions: Set<string>;
}

/** Knows the pages of one browser, which of them is in use, and where they have been. */
export interface PageTracker {
  /** The page opened or brought to front last. Undefined when all are closed. */
  active(): Page | undefined;
  all(): Page[];
  /** Resolves when what was asked of the page from now on may never be answered. */
  interrupted(page: Page): { promise: Promise<Interruption>; stop: () => void };
  /**
   * Leaves it to the caller to start pages that pages open (`Runtime.runIfWaitingForDebugger`), for it prepares them before
   * they run. Call the result when it no longer does.
   */
  holdNewPages(): () => void;
  /** Calls back with each new page before it is started, which waits for the promise. The result ends that. */
  onNewPage(prepare: (targetId: string) => Promise<void>): () => void;
  /** Calls back when another page is in use, or the one in use has another address, title or dialog. */
  onChange(listener: () => void): () => void;
  /** Notes that a client brought a page to front. */
  activated(targetId: string): void;
  /**
   * Origins (http and https) that pages of the default context have been at, with their frames of the same site. Frames
   * of other sites keep their storage apart, under the page they are in; it is not part of a profile.
   */
  visitedOrigins(): Set<string>;
  /** Forgets them: the service's own visits are nobody's. */
  forgetVisits(): void;
  /** The context that a profile belongs to. */
  defaultContextId(): string | undefined;
}

/** How long a page may owe an answer after one of its documents gave way to another, in milliseconds. */
const ANSWER_AFTER_MOVE_MS = 1_000;

/** Follows targets from now on, and resolves when the first page is there. */
export async function trackPages(cdp: CdpConnection): Promise<PageTracker> {
  const pages = new Map<string, Page>();
  /** Page of each of our sessions, frames included. */
  const bySession = new Map<string, Page>();
  /** Target ids, the one in use last. */
  let order: string[] = [];
  const origins = new Set<string>();
  const changed = new Set<() => void>();
  const interruptions = new Map<Page, Set<(why: Interruption) => void>>();
  const preparations = new Set<(targetId: string) => Promise<void>>();
  /** How many clients start new pages themselves. */
  let holds = 0;
  let firstContext: string | undefined;
  let announceFirst: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (announceFirst = resolve));

  const noteUrl = (page: Page, url: string): void => {
    page.url = url;
    if (page.browserContextId === firstContext && isWeb(url)) origins.add(new URL(url).origin);
  };
  const noteFrameUrl = (page: Page, url: string): void => {
    if (page.browserContextId === firstContext && isSameSite(page.url, url)) origins.add(new URL(url).origin);
  };
  const interrupt = (page: Page, why: Interruption): void => {
    for (const wake of interruptions.get(page) ?? []) wake(why);
  };
  const noteMove = (page: Page): void => {
    const asked = [...(interruptions.get(page) ?? [])];
    if (asked.length === 0) return;
    const giveUp = (): void => {
      for (const wake of asked) wake('moved');
    };
    setTimeout(giveUp, ANSWER_AFTER_MOVE_MS).unref();
  };
  const tellChange = (): void => {
    for (const tell of changed) tell();
  };
  /**
   * Chromium stops a window that a page opens, and its opener with it, as soon as anybody follows new pages, whether or not
   * they want it stopped. Any session may start it, so the one who wants to prepare it must be waited for.
   */
  const start = async ({ sessionId, targetId }: Page): Promise<void> => {
    await Promise.all([...preparations].map((prepare) => prepare(targetId)));
    // A page that closes right away makes it fail, and is nobody's loss.
    if (holds === 0) await cdp.send('Runtime.runIfWaitingForDebugger', undefined, sessionId).catch(() => undefined);
  };
  const enable = (sessionId: string): void => {
    // A page that closes right away makes these fail; its detach event tells what there is to know.
    void cdp.send('Page.enable', {}, sessionId).catch(() => undefined);
    void cdp.send('Inspector.enable', undefined, sessionId).catch(() => undefined);
    const attach = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true, filter: [{ type: 'iframe' }] };
    void cdp.send('Target.setAutoAttach', attach, sessionId).catch(() => undefined);
  };

  cdp.on('Target.attachedToTarget', ({ sessionId, targetInfo }, parentSession) => {
    const parent = parentSession === undefined ? undefined : bySession.get(parentSession);
    if (parent !== undefined && targetInfo.type === 'iframe') {
      parent.frameSessions.add(sessionId);
      bySession.set(sessionId, parent);
      noteFrameUrl(parent, targetInfo.url);
      enable(sessionId);
      return;
    }
    // Pages come to us from the browser itself; what has a parent that is not ours belongs to somebody else's session.
    if (parentSession !== undefined || targetInfo.type !== 'page') return;
    if (targetInfo.url.startsWith(OWN_TARGET_URL) || pages.has(targetInfo.targetId)) return;
    const page: Page = {
      targetId: targetInfo.targetId,
      sessionId,
      browserContextId: targetInfo.browserContextId,
      url: targetInfo.url,
      title: targetInfo.title,
      dialog: null,
      crashed: false,
      frameSessions: new Set(),
    };
    firstContext ??= targetInfo.browserContextId;
    pages.set(page.targetId, page);
    bySession.set(sessionId, page);
    order.push(page.targetId);
    noteUrl(page, targetInfo.url);
    enable(sessionId);
    void start(page);
    tellChange();
    announceFirst();
  });
  cdp.on('Target.detachedFromTarget', ({ sessionId }) => {
    const page = bySession.get(sessionId);
    bySession.delete(sessionId);
    if (page === undefined) return;
    page.frameSessions.delete(sessionId);
    if (page.sessionId !== sessionId) {
      noteMove(page);
      return;
    }
    const wasActive = order.at(-1) === page.targetId;
    pages.delete(page.targetId);
    order = order.filter((id) => id !== page.targetId);
    interrupt(page, 'gone');
    tellChange();
    // The browser may show another tab than the one before; input goes to what is in front.
    const next = order.at(-1);
    if (wasActive && next !== undefined)
      void cdp.send('Target.activateTarget', { targetId: next }).catch(() => undefined);
  });
  cdp.on('Target.targetInfoChanged', ({ targetInfo }) => {
    const page = pages.get(targetInfo.targetId);
    if (page === undefined) return;
    noteUrl(page, targetInfo.url);
    page.title = targetInfo.title;
    tellChange();
  });
  cdp.on('Page.frameNavigated', ({ frame }, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page === undefined) return;
    noteMove(page);
    if (frame.parentId === undefined && sessionId === page.sessionId) {
      page.crashed = false;
      noteUrl(page, frame.url);
    } else noteFrameUrl(page, frame.url);
  });
  cdp.on('Target.targetCrashed', ({ targetId }) => {
    const page = pages.get(targetId);
    if (page === undefined) return;
    page.crashed = true;
    interrupt(page, 'crashed');
  });
  // The navigation that revives a page may be told before anybody listens to its new renderer.
  cdp.on('Inspector.targetReloadedAfterCrash', (_, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page !== undefined && page.sessionId === sessionId) page.crashed = false;
  });
  cdp.on('Page.javascriptDialogOpening', ({ type, message, defaultPrompt = '' }, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page === undefined) return;
    page.dialog = { type, message, defaultPrompt };
    interrupt(page, 'dialog');
    tellChange();
  });
  cdp.on('Page.javascriptDialogClosed', (_, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page === undefined) return;
    page.dialog = null;
    tellChange();
  });

  await Promise.all([
    cdp.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] }),
    cdp.send('Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: false,
      flatten: true,
      filter: [{ type: 'page' }],
    }),
  ]);
  await Promise.race([first, cdp.closed]);

  return {
    active: () => pages.get(order.at(-1) ?? ''),
    all: () => [...pages.values()],
    interrupted: (page) => {
      const wakers = interruptions.get(page) ?? new Set();
      interruptions.set(page, wakers);
      let wake: (why: Interruption) => void = () => undefined;
      const promise = new Promise<Interruption>((resolve) => (wake = resolve));
      wakers.add(wake);
      if (!pages.has(page.targetId)) wake('gone');
      else if (page.crashed) wake('crashed');
      else if (page.dialog !== null) wake('dialog');
      return {
        promise,
        stop: () => {
          wakers.delete(wake);
          if (wakers.size === 0) interruptions.delete(page);
        },
      };
    },
    activated: (targetId) => {
      if (!pages.has(targetId)) return;
      order = [...order.filter((id) => id !== targetId), targetId];
      tellChange();
    },
    holdNewPages: () => {
      holds += 1;
      return () => {
        holds -= 1;
        // What the client has left behind unprepared goes on without it.
        if (holds === 0) for (const page of pages.values()) void start(page);
      };
    },
    onNewPage: (prepare) => {
      preparations.add(prepare);
      return () => preparations.delete(prepare);
    },
    onChange: (listener) => {
      changed.add(listener);
      return () => changed.delete(listener);
    },
    visitedOrigins: () => origins,
    forgetVisits: () => {
      origins.clear();
    },
    defaultContextId: () => firstContext,
  };
}

function isWeb(url: string): boolean {
  return /^https?:/i.test(url) && URL.canParse(url);
}

/** Same scheme and same registrable domain (or the same host, where there is none). */
function isSameSite(left: string, right: string): boolean {
  if (!isWeb(left) || !isWeb(right)) return false;
  const [a, b] = [new URL(left), new URL(right)];
  const site = (url: URL): string => getDomain(url.hostname, { allowPrivateDomains: true }) ?? url.hostname;
  return a.protocol === b.protocol && site(a) === site(b);
}
