import type { BrowserContext, Page, Request, Route } from 'playwright-core';
import { isOwnSite, type AllowedSites } from '../../../contract/site-hosts.ts';
import { isIdentityProvider, mayNavigateTo } from '../allowed-sites.ts';
import { isAuthorizationRequest } from '../urls.ts';
import { navigatedFrame } from '../reading/traffic.ts';
import type { LoginTarget } from '../../../contract/activities.ts';

interface Windows {
  sites: AllowedSites;
  /** Windows that are part of the login, wherever they navigate. */
  trusted: WeakSet<Page>;
  foreign: WeakSet<Page>;
  /** Requests to identity providers by windows that have not opened yet. */
  providerRequests: Set<Request>;
  /** Whether windows that open now belong to a provider that was just chosen. */
  trustsNew: boolean;
}

const watched = new WeakMap<BrowserContext, Windows>();

/**
 * From now on, closes popups that navigate to sites outside the login: their forms would be taken for the login's. Part of the
 * login are windows on the connection's site, an allowed domain or an identity provider, windows that came by an identity provider
 * (which may redirect to a company's own), and authorization requests that redirect back to the connection's site. Windows that are
 * already open stay: they were checked when they opened.
 */
export function closeForeignWindows(page: Page, sites: AllowedSites): void {
  const context = page.context();
  const known = watched.get(context);
  if (known !== undefined) {
    known.sites = sites;
    // A page that is still open is part of the login and may navigate anywhere; an empty one is not yet known.
    if (!isEmpty(page.url())) known.trusted.add(page);
    return;
  }
  const windows: Windows = {
    sites,
    trusted: new WeakSet(context.pages()),
    foreign: new WeakSet(),
    providerRequests: new Set(),
    trustsNew: false,
  };
  watched.set(context, windows);
  context.on('request', (request) => {
    if (!request.isNavigationRequest() || !isIdentityProvider(request.url())) return;
    const frame = navigatedFrame(request);
    if (frame === null) windows.providerRequests.add(request);
    else if (frame.parentFrame() === null) windows.trusted.add(frame.page());
  });
  context.on('page', (opened) => {
    if (windows.trustsNew) windows.trusted.add(opened);
    opened.on('framenavigated', (frame) => {
      if (frame === opened.mainFrame()) closeIfForeign(windows, opened);
    });
    closeIfForeign(windows, opened);
  });
}

/** Trusts windows that open during `press`, wherever they navigate: it chooses a provider. */
export async function trustNewWindows(page: Page, press: () => Promise<void>): Promise<void> {
  const windows = watched.get(page.context());
  if (windows !== undefined) windows.trustsNew = true;
  try {
    await press();
  } finally {
    if (windows !== undefined) windows.trustsNew = false;
  }
}

/** Opens a window that is part of the login. */
export async function openWindow(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  watched.get(context)?.trusted.add(page);
  return page;
}

/** Whether a window is being closed because it navigated to a site outside the login. */
export function isForeignWindow(page: Page): boolean {
  return watched.get(page.context())?.foreign.has(page) === true;
}

function closeIfForeign({ sites, trusted, foreign, providerRequests }: Windows, opened: Page): void {
  for (const request of providerRequests)
    if (navigatedFrame(request)?.page() === opened) {
      trusted.add(opened);
      providerRequests.delete(request);
    }
  const url = opened.url();
  if (trusted.has(opened) || isEmpty(url) || mayNavigateTo(url, sites) || redirectsBackTo(url, sites)) return;
  foreign.add(opened);
  void opened.close().catch(() => undefined);
}

function isEmpty(url: string): boolean {
  return url === '' || url.startsWith('about:');
}

function redirectsBackTo(url: string, sites: AllowedSites): boolean {
  if (!isAuthorizationRequest(url)) return false;
  const back = new URL(url).searchParams.get('redirect_uri') ?? '';
  return URL.canParse(back) && isOwnSite(new URL(back), sites);
}

/** Contexts with confined navigation, and what lifts it. */
const confined = new WeakMap<BrowserContext, () => Promise<void>>();

/**
 * While `isOn`, a person acts on the page, and no window of the browser may leave the connection's allowed sites. Popups to other
 * sites are closed. Frames are not restricted: captchas are in frames of their vendors. Idempotent.
 */
export async function confineNavigation(page: Page, target: LoginTarget, isOn: boolean): Promise<void> {
  const context = page.context();
  const lift = confined.get(context);
  if (isOn === (lift !== undefined)) return;
  if (lift !== undefined) {
    confined.delete(context);
    await lift();
    return;
  }
  const check = async (route: Route): Promise<void> => {
    const request = route.request();
    const isTopLevel = request.isNavigationRequest() && request.frame().parentFrame() === null;
    if (!isTopLevel || mayNavigateTo(request.url(), target)) {
      await route.fallback();
      return;
    }
    // 'aborted' leaves the page as it is instead of showing an error page.
    await route.abort('aborted');
    const opened = request.frame().page();
    if (opened !== page) await opened.close().catch(() => undefined);
  };
  confined.set(context, () => context.unroute('**/*', check));
  await context.route('**/*', check);
}
