import type { Frame, Page, Request, Route } from 'playwright-core';
import { cdpSessionOf } from '../session/cdp-session.ts';
import { navigatedFrame } from '../reading/traffic.ts';

/** What the browser tells of a request that has been answered. */
interface Answered {
  requestId: string;
  request: { url: string; postData?: string };
  resourceType: string;
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
}

/** A page that stays where it is while it is filled in. */
export interface PageGuard {
  /** From here on the form is being sent, and may lead anywhere. */
  allowNavigation(): void;
  /** True once a form was kept from taking what was typed to where it may not go. */
  hasBlockedForm(): boolean;
  /** True once a script or another part of the page was, and nothing has taken it where it may go. */
  hasBlockedRequest(): boolean;
  /** Ends it: nothing is judged any more. Repeating it does nothing. */
  end(): Promise<void>;
}

/** What to hold a page by. */
export interface GuardOptions {
  /** Frames whose documents, and those around them, stay until the form is sent. */
  frames: readonly Frame[];
  /** Spellings of what is typed: a request that carries one of them is judged, and each redirect that would repeat it. */
  secrets: readonly string[];
  /** Whether a request may take them to an address. */
  mayCarryTo: (url: string) => boolean;
}

/**
 * Holds the documents that are typed into: between the look at a document's address and the last key another one could come in its
 * place, and have the rest. A page that wants to go elsewhere meanwhile stays as it is. A form that would take a secret to where it may
 * not go is not sent at all, nor is what a script would send there, a recorder of what visitors do among them.
 */
export async function guardPage(page: Page, { frames, secrets, mayCarryTo }: GuardOptions): Promise<PageGuard> {
  const held = new Set<Frame>(frames.flatMap(withAround));
  let hasBlockedForm = false;
  let hasBlockedRequest = false;
  let hasCarried = false;
  let hasEnded = false;
  const judge = async (route: Route): Promise<void> => {
    const request = route.request();
    const frame = navigatedFrame(request);
    const isCarrier = carries(sentBy(request));
    const isRefused = isCarrier && !mayCarryTo(request.url());
    if (isRefused) note(request.isNavigationRequest());
    else hasCarried ||= isCarrier;
    // Not as a fault: the page stays as it is.
    if (isRefused || (frame !== null && held.has(frame))) await route.abort('aborted');
    else await route.fallback();
  };
  // A redirect repeats a request without a word of it to routes.
  const judgeRedirect = ({ request, resourceType, responseStatusCode: status = 0, responseHeaders = [] }: Answered) => {
    const location = responseHeaders.find(({ name }) => name.toLowerCase() === 'location')?.value;
    if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, request.url)) return true;
    const to = new URL(location, request.url).href;
    const repeated = REPEATS.has(status) ? (request.postData ?? '') : '';
    if (!carries(`${to}\n${repeated}`) || mayCarryTo(to)) return true;
    // What it answers has not arrived.
    hasCarried = false;
    note(resourceType === 'Document');
    return false;
  };
  const carries = (sent: string): boolean => secrets.some((secret) => sent.includes(secret));
  const note = (isNavigation: boolean): void => {
    if (isNavigation) hasBlockedForm = true;
    else hasBlockedRequest = true;
  };
  const [endRedirects] = await Promise.all([followRedirects(page, judgeRedirect), page.route('**/*', judge)]);
  return {
    allowNavigation: () => {
      held.clear();
    },
    hasBlockedForm: () => hasBlockedForm,
    hasBlockedRequest: () => hasBlockedRequest && !hasCarried,
    end: async () => {
      if (hasEnded) return;
      hasEnded = true;
      await Promise.all([endRedirects(), page.unroute('**/*', judge).catch(() => undefined)]);
    },
  };
}

/** What a request would tell whom it goes to. */
function sentBy(request: Request): string {
  const { referer = '', authorization = '' } = request.headers();
  return [request.url(), request.postData() ?? '', referer, authorization].join('\n');
}

/** Statuses of redirects that repeat the body of a request. */
const REPEATS = new Set([307, 308]);
/** What can carry a body: forms and scripts. Answers to the rest are not held up. */
const CARRIERS = ['Document', 'XHR', 'Fetch', 'Ping', 'Other'] as const;

/** Asks of each answer to what a page sends whether it may come, and has the browser follow no redirect that may not. */
async function followRedirects(page: Page, mayCome: (answered: Answered) => boolean): Promise<() => Promise<void>> {
  const session = await cdpSessionOf(page);
  if (session === null) return () => Promise.resolve();
  const onPaused = (answered: Answered): void => {
    const { requestId } = answered;
    const sent = mayCome(answered)
      ? session.send('Fetch.continueRequest', { requestId })
      : session.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    // One whose page has gone has no answer.
    void sent.catch(() => undefined);
  };
  session.on('Fetch.requestPaused', onPaused);
  const patterns = CARRIERS.map((resourceType) => ({ resourceType, requestStage: 'Response' as const }));
  await session.send('Fetch.enable', { patterns }).catch(() => undefined);
  return async () => {
    await session.send('Fetch.disable').catch(() => undefined);
    session.off('Fetch.requestPaused', onPaused);
  };
}

function withAround(frame: Frame): Frame[] {
  const around = frame.parentFrame();
  return around === null ? [frame] : [frame, ...withAround(around)];
}
