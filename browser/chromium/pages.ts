import type { Protocol } from 'devtools-protocol';
import { getDomain } from 'tldts';
import type { CdpConnection } from '../cdp/connection.ts';

/** Marks targets that the service opens for itself; they are not pages of the session. */
export const INTERNAL_TARGET_URL = 'about:blank#holdfast';

/** An alert, confirm, prompt or beforeunload dialog, which blocks its page until it is answered. */
interface OpenDialog {
  type: Protocol.Page.DialogType;
  message: string;
  /** The default value of a prompt. */
  defaultPrompt: string;
}

/**
 * Why a pending command to the page may never be answered. `moved`: its document was replaced a while ago, and the
 * response with it; the command was handled, or never will be.
 */
export type Interruption = 'dialog' | 'gone' | 'crashed' | 'moved';

/** One page (tab or popup) of a session. */
export interface Page {
  targetId: string;
  /** The service's flat session on it. */
  sessionId: string;
  browserContextId: string | undefined;
  /** Address of its main frame. */
  url: string;
  title: string;
  dialog: OpenDialog | null;
  /** Its renderer has crashed; a navigation starts a new one. */
  crashed: boolean;
  /** Sessions on its out-of-process frames. */
  frameSessions: Set<string>;
}

/** Tracks the pages of a browser, which one is active, and the origins they visited. */
export interface PageTracker {
  /** The page opened or brought to front last; undefined if all are closed. */
  active(): Page | undefined;
  all(): Page[];
  /** Resolves when commands sent to the page from now on may never be answered. */
  interrupted(page: Page): { promise: Promise<Interruption>; stop: () => void };
  /**
   * Leaves it to the caller to resume newly opened pages (`Runtime.runIfWaitingForDebugger`) once it has prepared them.
   * Returns the function that gives this up.
   */
  holdNewPages(): () => void;
  /** Calls back with each new page, which is resumed once the promise resolves. Returns the unsubscribe function. */
  onNewPage(prepare: (targetId: string) => Promise<void>): () => void;
  /** Calls back when another page becomes active, or the active page's URL, title or dialog changes. */
  onChange(listener: () => void): () => void;
  /** Records that a client brought a page to front. */
  activated(targetId: string): void;
  /**
   * Http and https origins visited by pages of the default context, including their same-site frames. Storage of
   * cross-site frames is partitioned by page and not part of a profile.
   */
  visitedOrigins(): Set<string>;
  /** Clears the visited origins, to exclude the service's own navigations. */
  forgetVisits(): void;
  /** The context that a profile belongs to. */
  defaultContextId(): string | undefined;
}

/** How long a page may take to respond after one of its documents was replaced, in milliseconds. */
const RESPONSE_AFTER_MOVE_MS = 1_000;

const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true };

/** Starts to track targets, and resolves once the first page is attached. */
export async function trackPages(cdp: CdpConnection): Promise<PageTracker> {
  const pages = new Map<string, Page>();
  /** Page by session, including sessions on frames. */
  const bySession = new Map<string, Page>();
  /** Target ids, the active one last. */
  let order: string[] = [];
  const origins = new Set<string>();
  const changeListeners = new Set<() => void>();
  const interruptions = new Map<Page, Set<(why: Interruption) => void>>();
  const preparations = new Set<(targetId: string) => Promise<void>>();
  /** How many clients resume new pages themselves. */
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
    const waiting = [...(interruptions.get(page) ?? [])];
    if (waiting.length === 0) return;
    const giveUp = (): void => {
      for (const wake of waiting) wake('moved');
    };
    setTimeout(giveUp, RESPONSE_AFTER_MOVE_MS).unref();
  };
  const notifyChange = (): void => {
    for (const listener of changeListeners) listener();
  };
  /**
   * Chromium pauses a window that a page opens, and its opener with it, as soon as any session auto-attaches to pages, even
   * without waitForDebuggerOnStart. Any session may resume it, so those that want to prepare it must be awaited.
   */
  const resume = async ({ sessionId, targetId }: Page): Promise<void> => {
    await Promise.all([...preparations].map((prepare) => prepare(targetId)));
    // Fails harmlessly if the page closes right away.
    if (holds === 0) await cdp.send('Runtime.runIfWaitingForDebugger', undefined, sessionId).catch(() => undefined);
  };
  const enable = (sessionId: string): void => {
    // These fail if the page closes right away; its detach event follows.
    void cdp.send('Page.enable', {}, sessionId).catch(() => undefined);
    void cdp.send('Inspector.enable', undefined, sessionId).catch(() => undefined);
    const frames = { ...AUTO_ATTACH, filter: [{ type: 'iframe' }] };
    void cdp.send('Target.setAutoAttach', frames, sessionId).catch(() => undefined);
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
    // Our pages are attached by the browser itself; anything with another parent belongs to someone else's session.
    if (parentSession !== undefined || targetInfo.type !== 'page') return;
    if (targetInfo.url.startsWith(INTERNAL_TARGET_URL) || pages.has(targetInfo.targetId)) return;
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
    void resume(page);
    notifyChange();
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
    notifyChange();
    // The browser may show a tab other than the previously active one, and input goes to the one in front.
    const next = order.at(-1);
    if (wasActive && next !== undefined)
      void cdp.send('Target.activateTarget', { targetId: next }).catch(() => undefined);
  });
  cdp.on('Target.targetInfoChanged', ({ targetInfo }) => {
    const page = pages.get(targetInfo.targetId);
    if (page === undefined) return;
    noteUrl(page, targetInfo.url);
    page.title = targetInfo.title;
    notifyChange();
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
  // The navigation that revives a page may be reported before its new renderer is listened to.
  cdp.on('Inspector.targetReloadedAfterCrash', (_, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page !== undefined && page.sessionId === sessionId) page.crashed = false;
  });
  cdp.on('Page.javascriptDialogOpening', ({ type, message, defaultPrompt = '' }, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page === undefined) return;
    page.dialog = { type, message, defaultPrompt };
    interrupt(page, 'dialog');
    notifyChange();
  });
  cdp.on('Page.javascriptDialogClosed', (_, sessionId) => {
    const page = bySession.get(sessionId ?? '');
    if (page === undefined) return;
    page.dialog = null;
    notifyChange();
  });

  await Promise.all([
    cdp.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] }),
    cdp.send('Target.setAutoAttach', { ...AUTO_ATTACH, filter: [{ type: 'page' }] }),
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
      notifyChange();
    },
    holdNewPages: () => {
      holds += 1;
      return () => {
        holds -= 1;
        // Resumes pages that the client left paused.
        if (holds === 0) for (const page of pages.values()) void resume(page);
      };
    },
    onNewPage: (prepare) => {
      preparations.add(prepare);
      return () => preparations.delete(prepare);
    },
    onChange: (listener) => {
      changeListeners.add(listener);
      return () => changeListeners.delete(listener);
    },
    visitedOrigins: () => origins,
    forgetVisits: () => origins.clear(),
    defaultContextId: () => firstContext,
  };
}

function isWeb(url: string): boolean {
  return /^https?:/i.test(url) && URL.canParse(url);
}

/** Same scheme and registrable domain (or host, if there is none). */
function isSameSite(left: string, right: string): boolean {
  if (!isWeb(left) || !isWeb(right)) return false;
  const [a, b] = [new URL(left), new URL(right)];
  const site = (url: URL): string => getDomain(url.hostname, { allowPrivateDomains: true }) ?? url.hostname;
  return a.protocol === b.protocol && site(a) === site(b);
}
