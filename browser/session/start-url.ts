import type { Session } from './session.ts';

/** Sends the page in use to an address. Fire and forget: whether it loads is seen in the browser. */
export function openStartUrl({ chromium }: Pick<Session, 'chromium'>, url: string | undefined): void {
  const page = chromium.pages.active();
  if (url === undefined || url === '' || page === undefined) return;
  void chromium.cdp.send('Page.navigate', { url }, page.sessionId).catch(() => undefined);
}
