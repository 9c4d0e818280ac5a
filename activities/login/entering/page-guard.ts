import type { Frame, Page, Request, Route } from 'playwright-core';
import { cdpSessionOf } from '../session/cdp-session.ts';
import { navigatedFrame } from '../reading/traffic.ts';

/** A response that the browser has paused (CDP `Fetch.requestPaused`). */
interface PausedResponse {
  requestId: string;
  request: { url: string; postData?: string };
  resourceType: string;
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
}

/** Guards a page while it is filled in. */
export interface PageGuard {
  /** Lets the guarded documents navigate: the form is about to be submitted. Requests are still checked. */
  allowNavigation(): Promise<void>;
  /** True once a form submission was blocked because it would have sent a secret to a site where it may not go. */
  hasBlockedForm(): boolean;
  /** True once a script's request was blocked for that reason, and no other has sent the secret where it may go. */
  hasBlockedRequest(): boolean;
  /** True once a request has sent a secret where it may go. */
  hasSentSecret(): boolean;
  /** Stops guarding. Idempotent. */
  stop(): Promise<void>;
}

interface GuardOptions {
  /** Frames whose documents, and those of their ancestors, must not navigate until {@link PageGuard.allowNavigation}. */
  frames: readonly Frame[];
  /** Spellings of the typed secrets: requests and redirects that contain one are checked. */
  secrets: readonly string[];
  /** Whether a request with a secret may go to a URL. */
  maySendTo: (url: string) => boolean;
}

/**
 * Keeps the documents that are typed into from being replaced between the check of a document's URL and the last key: navigations
 * are aborted and the page stays as it is. Also blocks every request (form or script, such as a session recorder) that would send
 * a secret to a site where it may not go.
 */
export async function guardPage(page: Page, { frames, secrets, maySendTo }: GuardOptions): Promise<PageGuard> {
  const guarded = new Set<Frame>(frames.flatMap(withAncestors));
  let hasBlockedForm = false;
  let hasBlockedRequest = false;
  let hasSentSecret = false;
  let isStopped = false;
  const containsSecret = (sent: string): boolean => secrets.some((secret) => sent.includes(secret));
  const recordBlocked = (isNavigation: boolean): void => {
    if (isNavigation) hasBlockedForm = true;
    else hasBlockedRequest = true;
  };
  const checkRequest = async (route: Route): Promise<void> => {
    const request = route.request();
    const frame = navigatedFrame(request);
    const hasSecret = containsSecret(sentBy(request));
    const isBlocked = hasSecret && !maySendTo(request.url());
    if (isBlocked) recordBlocked(request.isNavigationRequest());
    else hasSentSecret ||= hasSecret;
    // 'aborted' leaves the page as it is instead of showing an error page.
    if (isBlocked || (frame !== null && guarded.has(frame))) await route.abort('aborted');
    else await route.fallback();
  };
  // Playwright's routes do not see the requests that follow a redirect.
  const mayFollow = ({
    request,
    resourceType,
    responseStatusCode: status = 0,
    responseHeaders = [],
  }: PausedResponse): boolean => {
    const location = responseHeaders.find(({ name }) => name.toLowerCase() === 'location')?.value;
    if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, request.url)) return true;
    const to = new URL(location, request.url).href;
    const repeatedBody = BODY_PRESERVING.has(status) ? (request.postData ?? '') : '';
    if (!containsSecret(`${to}\n${repeatedBody}`) || maySendTo(to)) return true;
    // The redirect is the response to the request that sent the secret, and it is not delivered.
    hasSentSecret = false;
    recordBlocked(resourceType === 'Document');
    return false;
  };
  const [stopRedirects] = await Promise.all([checkRedirects(page, mayFollow), page.route('**/*', checkRequest)]);
  return {
    allowNavigation: async () => {
      if (guarded.size > 0) await page.evaluate(waitInPage, PENDING_TIMERS_MS).catch(() => undefined);
      guarded.clear();
    },
    hasBlockedForm: () => hasBlockedForm,
    hasBlockedRequest: () => hasBlockedRequest && !hasSentSecret,
    hasSentSecret: () => hasSentSecret,
    stop: async () => {
      if (isStopped) return;
      isStopped = true;
      await Promise.all([stopRedirects(), page.unroute('**/*', checkRequest).catch(() => undefined)]);
    },
  };
}

/** How long short timers of the page may run before its navigation is allowed, in milliseconds: what they start is still held. */
const PENDING_TIMERS_MS = 30;

function waitInPage(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}

/** Everything in a request that its recipient can read a secret from. */
function sentBy(request: Request): string {
  const { referer = '', authorization = '' } = request.headers();
  return [request.url(), request.postData() ?? '', referer, authorization].join('\n');
}

/** Redirect statuses that repeat the body of a request. */
const BODY_PRESERVING = new Set([307, 308]);
/** Requests that can have a body. Other responses are not paused. */
const RESOURCE_TYPES = ['Document', 'XHR', 'Fetch', 'Ping', 'Other'] as const;

/** Pauses each response and fails those that redirect where `mayFollow` says no. Returns what stops it. */
async function checkRedirects(
  page: Page,
  mayFollow: (response: PausedResponse) => boolean,
): Promise<() => Promise<void>> {
  const session = await cdpSessionOf(page);
  if (session === null) return () => Promise.resolve();
  const onPaused = (response: PausedResponse): void => {
    const { requestId } = response;
    const sent = mayFollow(response)
      ? session.send('Fetch.continueRequest', { requestId })
      : session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    // Fails if the page is gone.
    void sent.catch(() => undefined);
  };
  session.on('Fetch.requestPaused', onPaused);
  const patterns = RESOURCE_TYPES.map((resourceType) => ({ resourceType, requestStage: 'Response' as const }));
  await session.send('Fetch.enable', { patterns }).catch(() => undefined);
  return async () => {
    await session.send('Fetch.disable').catch(() => undefined);
    session.off('Fetch.requestPaused', onPaused);
  };
}

function withAncestors(frame: Frame): Frame[] {
  const parent = frame.parentFrame();
  return parent === null ? [frame] : [frame, ...withAncestors(parent)];
}
