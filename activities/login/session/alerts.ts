import type { Dialog, Page } from 'playwright-core';

/** The alert boxes that a page has opened since they are recorded. */
export interface Alerts {
  readonly messages: readonly string[];
  stop(): void;
}

/** Records the messages of a page's alert boxes. Closes every dialog, as Playwright does for a page that nobody listens to. */
export function recordAlerts(page: Page): Alerts {
  const messages: string[] = [];
  const onDialog = (dialog: Dialog): void => {
    if (dialog.type() === 'alert') messages.push(dialog.message());
    const closed = dialog.type() === 'beforeunload' ? dialog.accept() : dialog.dismiss();
    // Its page may be gone.
    closed.catch(() => undefined);
  };
  page.on('dialog', onDialog);
  return { messages, stop: () => page.off('dialog', onDialog) };
}
