import type { BrowserContext, Page, Route } from 'playwright-core';
import type { LoginTarget } from '../../contract/activities.ts';
import { mayLeadTo } from './allowed-site.ts';

/** Contexts whose pages are kept on the connection's sites, and what ends that. */
const kept = new WeakMap<BrowserContext, () => Promise<void>>();

/**
 * While `isOn`, no window of the browser leaves the sites that the connection allows: somebody acts on the page. A window that is opened
 * to another site is closed. Frames within a page are the page's own affair: a puzzle lies in one of its maker. Repeating it does nothing.
 */
export async function keepOnSite(page: Page, target: LoginTarget, isOn: boolean): Promise<void> {
  const context = page.context();
  const end = kept.get(context);
  if (isOn === (end !== undefined)) return;
  if (end !== undefined) {
    kept.delete(context);
    await end();
    return;
  }
  const judge = async (route: Route): Promise<void> => {
    const request = route.request();
    const leaves = request.isNavigationRequest() && request.frame().parentFrame() === null;
    if (!leaves || mayLeadTo(request.url(), target)) {
      await route.fallback();
      return;
    }
    // Not as a fault: the page stays as it is.
    await route.abort('aborted');
    const opened = request.frame().page();
    if (opened !== page) await opened.close().catch(() => undefined);
  };
  kept.set(context, () => context.unroute('**/*', judge));
  await context.route('**/*', judge);
}
