import { setTimeout as sleep } from 'node:timers/promises';
import { openInternalPage } from '../chromium/internal-page.ts';
import { CdpError, type CdpConnection } from '../cdp/connection.ts';

/** Name of the isolated world that our code runs in, invisible to pages. */
const WORLD = 'storage';
/** How long a blank page may take to open, in milliseconds; no network is involved. */
const OPEN_TIMEOUT_MS = 10_000;

/** A page that can load an empty document of any origin without network access. */
export interface BlankPage {
  /** Evaluates an expression in an empty document of the origin. */
  evaluateAt(origin: string, expression: string): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Opens a hidden page whose requests are all intercepted: documents are empty, everything else fails. This gives access to
 * an origin's storage without network requests. Service workers are bypassed, as they would serve the site's pages.
 */
export async function openBlankPage(cdp: CdpConnection, browserContextId: string | undefined): Promise<BlankPage> {
  const hidden = await openInternalPage(cdp, browserContextId);
  const page = await interceptRequests(cdp, hidden.sessionId);
  return {
    evaluateAt: page.evaluateAt,
    close: async () => {
      page.stopListening();
      await hidden.close();
    },
  };
}

/** Like {@link openBlankPage} on an existing page, which `close` leaves empty and without history. */
export async function borrowPage(cdp: CdpConnection, sessionId: string): Promise<BlankPage> {
  const page = await interceptRequests(cdp, sessionId);
  return {
    evaluateAt: page.evaluateAt,
    close: async () => {
      page.stopListening();
      await cdp.send('Fetch.disable', undefined, sessionId);
      await page.navigate('about:blank');
      await retryWhileRefused(() => cdp.send('Page.resetNavigationHistory', undefined, sessionId));
      await cdp.send('Network.disable', undefined, sessionId);
    },
  };
}

async function interceptRequests(cdp: CdpConnection, sessionId: string) {
  const stopListening = cdp.on('Fetch.requestPaused', ({ requestId, resourceType }, from) => {
    if (from !== sessionId) return;
    const response =
      resourceType === 'Document'
        ? cdp.send(
            'Fetch.fulfillRequest',
            {
              requestId,
              responseCode: 200,
              responseHeaders: [{ name: 'content-type', value: 'text/html; charset=utf-8' }],
              body: Buffer.from('<!doctype html>').toString('base64'),
            },
            sessionId,
          )
        : cdp.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }, sessionId);
    // Fails if the page has navigated in the meantime.
    response.catch(() => undefined);
  });
  await Promise.all([
    cdp.send('Page.enable', {}, sessionId),
    cdp.send('Network.enable', {}, sessionId),
    cdp.send('Network.setBypassServiceWorker', { bypass: true }, sessionId),
    cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, sessionId),
  ]);

  /** Resolves with the frame's id once the document is committed, slightly after the response to `Page.navigate`. */
  const navigate = async (url: string): Promise<string> => {
    let onCommit: (loaderId: string) => void = () => undefined;
    const loaders = new Set<string>();
    let wanted: string | undefined;
    const committed = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('Failed to open a blank page')), OPEN_TIMEOUT_MS);
      onCommit = (loaderId) => {
        loaders.add(loaderId);
        if (wanted === undefined || !loaders.has(wanted)) return;
        clearTimeout(timer);
        resolve();
      };
    });
    const stop = cdp.on('Page.frameNavigated', ({ frame }, from) => {
      if (from === sessionId && frame.parentId === undefined) onCommit(frame.loaderId);
    });
    try {
      const { frameId, loaderId, errorText } = await cdp.send('Page.navigate', { url }, sessionId);
      if (errorText !== undefined) throw new Error(`Failed to open a blank page: ${errorText}`);
      if (loaderId !== undefined) {
        wanted = loaderId;
        if (loaders.has(loaderId)) onCommit(loaderId);
        await committed;
      }
      return frameId;
    } finally {
      // It may reject after an earlier error.
      committed.catch(() => undefined);
      stop();
    }
  };

  return {
    stopListening,
    navigate,
    evaluateAt: async (origin: string, expression: string): Promise<unknown> => {
      const frameId = await navigate(`${origin}/`);
      // Expressions are idempotent, so they can be retried.
      return retryWhileRefused(() => evaluateInIsolatedWorld(cdp, sessionId, frameId, expression));
    },
  };
}

/** Evaluates an expression in an isolated world of a frame: invisible to the page, which cannot interfere. */
export async function evaluateInIsolatedWorld(
  cdp: CdpConnection,
  sessionId: string,
  frameId: string,
  expression: string,
): Promise<unknown> {
  const { executionContextId } = await cdp.send('Page.createIsolatedWorld', { frameId, worldName: WORLD }, sessionId);
  const { result, exceptionDetails } = await cdp.send(
    'Runtime.evaluate',
    { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true },
    sessionId,
  );
  if (exceptionDetails !== undefined) throw new Error('Failed to read the storage of a page');
  return result.value;
}

/** Delays between attempts, in milliseconds. */
const RETRY_DELAYS_MS = [5, 20, 50, 100, 200, 400];

/**
 * Retries while the browser refuses. It refuses commands to a newly committed page for a moment, until its process has taken
 * over from the previous one, and no event reports when it has.
 */
async function retryWhileRefused<T>(action: () => Promise<T>): Promise<T> {
  for (const delay of RETRY_DELAYS_MS) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof CdpError) || error.reason !== 'refused') throw error;
      await sleep(delay);
    }
  }
  return action();
}
