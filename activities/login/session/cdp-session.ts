import type { CDPSession, Page } from 'playwright-core';

/** One per page, never detached: detaching a session removes the page's virtual authenticator (passkeys.ts). */
const sessions = new WeakMap<Page, Promise<CDPSession | null>>();
const ids = new WeakMap<Page, Promise<string | undefined>>();

/** The CDP session of a page; null if the page is closed. */
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

/** The CDP target id of a page, which restricts input to it; undefined if the browser does not report one. */
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
