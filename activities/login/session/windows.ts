import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import { isOwnSite, type AllowedSites } from '../../../contract/site-hosts.ts';
import { isIdentityProvider, mayNavigateTo } from '../allowed-sites.ts';
import { isAuthorizationRequest } from '../urls.ts';
import { navigatedFrame } from '../reading/traffic.ts';
import type { LoginTarget } from '../../../contract/activities.ts';

/** What is known of the windows that pages of one browser have opened. */
interface Windows {
  sites: AllowedSites;
  /** Windows that are part of the login, wherever they lead. */
  trusted: WeakSet<Page>;
  strange: WeakSet<Page>;
  /** Asked for by windows that were still to open. */
  throughProvider: Set<Request>;
  /** Whether a window that opens now is asked for by who chose where to sign in. */
  isChosen: boolean;
}

const watched = new WeakMap<BrowserContext, Windows>();

/**
 * From now on, closes windows that pages of the login open to strangers' sites: what they ask for would be asked of the person, and
 * typed, as the login's. Part of a login is a window on the connection's site, on one that it allows by name or an identity provider,
 * one that came by a provider (which leads on to a company's own), and one that asks a provider of any name in the site's name.
 * Windows that are open already stay: who saw them open has judged them.
 */
export function closeForeignWindows(page: Page, sites: AllowedSites): void {
  const context = page.context();
  const known = watched.get(context);
  if (known !== undefined) {
    known.sites = sites;
    // What is no stranger's by now is a page of the login, which may lead on to anywhere; one that is still empty may be anybody's.
    if (!isEmpty(page.url())) known.trusted.add(page);
    return;
  }
  const windows: Windows = {
    sites,
    trusted: new WeakSet(context.pages()),
    strange: new WeakSet(),
    throughProvider: new Set(),
    isChosen: false,
  };
  watched.set(context, windows);
  context.on('request', (request) => {
    if (!request.isNavigationRequest() || !isIdentityProvider(request.url())) return;
    const frame = navigatedFrame(request);
    if (frame === null) windows.throughProvider.add(request);
    else if (frame.parentFrame() === null) windows.trusted.add(frame.page());
  });
  context.on('page', (opened) => {
    if (windows.isChosen) windows.trusted.add(opened);
    opened.on('framenavigated', (frame) => {
      if (frame === opened.mainFrame()) judge(windows, opened);
    });
    judge(windows, opened);
  });
}

/** Lets windows that open while `press` is on its way be the login's wherever they lead: somebody chose by whom to sign in. */
export async function trustNewWindows(page: Page, press: () => Promise<void>): Promise<void> {
  const windows = watched.get(page.context());
  if (windows !== undefined) windows.isChosen = true;
  try {
    await press();
  } finally {
    if (windows !== undefined) windows.isChosen = false;
  }
}

/** A window that this worker opens itself is the login's. */
export async function openWindow(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  watched.get(context)?.trusted.add(page);
  return page;
}

/** True of a window that is closing, as it shows a stranger's site. */
export function isForeignWindow(page: Page): boolean {
  return watched.get(page.context())?.strange.has(page) === true;
}

function judge(windows: Windows, opened: Page): void {
  const { sites, trusted, strange, throughProvider } = windows;
  for (const request of throughProvider)
    if (navigatedFrame(request)?.page() === opened) {
      trusted.add(opened);
      throughProvider.delete(request);
    }
  const url = opened.url();
  if (trusted.has(opened) || isEmpty(url) || mayNavigateTo(url, sites) || asksInNameOf(url, sites)) return;
  strange.add(opened);
  void opened.close().catch(() => undefined);
}

function isEmpty(url: string): boolean {
  return url === '' || url.startsWith('about:');
}

/** Whether an address asks a provider for an authorization that is to be brought to the connection's own site. */
function asksInNameOf(url: string, sites: AllowedSites): boolean {
  if (!isAuthorizationRequest(url)) return false;
  const back = new URL(url).searchParams.get('redirect_uri') ?? '';
  return URL.canParse(back) && isOwnSite(new URL(back), sites);
}

/** Contexts whose pages are kept on the connection's sites, and what ends that. */
const kept = new WeakMap<BrowserContext, () => Promise<void>>();

/**
 * While `isOn`, no window of the browser leaves the sites that the connection allows: somebody acts on the page. A window that is opened
 * to another site is closed. Frames within a page are the page's own affair: a puzzle lies in one of its maker. Repeating it does nothing.
 */
export async function confineNavigation(page: Page, target: LoginTarget, isOn: boolean): Promise<void> {
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
    if (!leaves || mayNavigateTo(request.url(), target)) {
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
