import type { CDPSession, Page } from 'playwright-core';

/** One for each page, for as long as it is there: a session that is detached takes the page's passkeys (passkeys.ts) with it. */
const sessions = new WeakMap<Page, Promise<CDPSession | null>>();
const ids = new WeakMap<Page, Promise<string | undefined>>();

/** The browser's debugger on a page; null when the page is gone. */
export function cdpSessionOf(page: Page): Promise<CDPSession | null> {
  const made =
    sessions.get(page) ??
    page
      .context()
      .newCDPSession(page)
      .catch(() => null);
  sessions.set(page, made);
  return made;
}

/** The browser's own name of a page, by which input can be meant for it alone; undefined where the browser does not tell. */
export function targetIdOf(page: Page): Promise<string | undefined> {
  const known =
    ids.get(page) ??
    cdpSessionOf(page)
      .then((session) => session?.send('Target.getTargetInfo'))
      .then((answer) => answer?.targetInfo.targetId)
      .catch(() => undefined);
  ids.set(page, known);
  return known;
}
