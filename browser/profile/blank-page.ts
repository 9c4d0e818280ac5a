import { openInternalPage } from '../chromium/internal-page.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CdpConnection } from '../cdp/connection.ts';
import { CdpError } from '../cdp/connection.ts';

/** Name of the world that our code runs in: pages cannot see it. */
const WORLD = 'storage';
/** Longest a blank page may take to open, in milliseconds: nothing of the network is involved. */
const OPEN_TIMEOUT_MS = 10_000;

/** A page that can stand at any origin without asking anybody for it. */
export interface BlankPage {
  /** Runs an expression in an empty document of that origin, and gives its value. */
  runAt(origin: string, expression: string): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Opens a hidden page of the default context whose every request is answered by us: documents are empty, all else is
 * refused. So an origin's storage can be read and written while nothing reaches the network. Service workers are
 * bypassed: they would answer with the site's own pages.
 */
export async function openBlankPage(cdp: CdpConnection, browserContextId: string | undefined): Promise<BlankPage> {
  const own = await openInternalPage(cdp, browserContextId);
  const page = await interceptPage(cdp, own.sessionId);
  return {
    runAt: page.runAt,
    close: async () => {
      page.stopListening();
      await own.close();
    },
  };
}

/** The same on a page that is there already; `release` gives it back empty and without a history. */
export async function borrowPage(cdp: CdpConnection, sessionId: string): Promise<BlankPage> {
  const page = await interceptPage(cdp, sessionId);
  return {
    runAt: page.runAt,
    close: async () => {
      page.stopListening();
      await cdp.send('Fetch.disable', undefined, sessionId);
      await page.navigate('about:blank');
      await whenSettled(() => cdp.send('Page.resetNavigationHistory', undefined, sessionId));
      await cdp.send('Network.disable', undefined, sessionId);
    },
  };
}

async function interceptPage(cdp: CdpConnection, sessionId: string) {
  const stopListening = cdp.on('Fetch.requestPaused', ({ requestId, resourceType }, from) => {
    if (from !== sessionId) return;
    const answered =
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
    // The page may have gone on meanwhile.
    answered.catch(() => undefined);
  });
  await Promise.all([
    cdp.send('Page.enable', {}, sessionId),
    cdp.send('Network.enable', {}, sessionId),
    cdp.send('Network.setBypassServiceWorker', { bypass: true }, sessionId),
    cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] }, sessionId),
  ]);

  /** Resolves with the frame's id when the document is there: the answer to `Page.navigate` comes a little before. */
  const navigate = async (url: string): Promise<string> => {
    let arrived: (loaderId: string) => void = () => undefined;
    const loaders = new Set<string>();
    let wanted: string | undefined;
    const there = new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error('Failed to open a blank page'));
      }, OPEN_TIMEOUT_MS);
      arrived = (loaderId) => {
        loaders.add(loaderId);
        if (wanted === undefined || !loaders.has(wanted)) return;
        clearTimeout(timer);
        resolve();
      };
    });
    const stop = cdp.on('Page.frameNavigated', ({ frame }, from) => {
      if (from === sessionId && frame.parentId === undefined) arrived(frame.loaderId);
    });
    try {
      const { frameId, loaderId, errorText } = await cdp.send('Page.navigate', { url }, sessionId);
      if (errorText !== undefined) throw new Error(`Failed to open a blank page: ${errorText}`);
      if (loaderId !== undefined) {
        wanted = loaderId;
        if (loaders.has(loaderId)) arrived(loaderId);
        await there;
      }
      return frameId;
    } finally {
      // Nobody may be waiting any more when it is rejected.
      there.catch(() => undefined);
      stop();
    }
  };

  return {
    stopListening,
    navigate,
    runAt: async (origin: string, expression: string): Promise<unknown> => {
      const frameId = await navigate(`${origin}/`);
      // What runs here may run twice: it reads, or writes the same again.
      return whenSettled(() => evaluateInIsolatedWorld(cdp, sessionId, frameId, expression));
    },
  };
}

/** Evaluates in a world of our own in that frame: no trace in the page, and no way for the page to interfere. */
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

/** Pauses between tries, in milliseconds. */
const SETTLE_PAUSES_MS = [5, 20, 50, 100, 200, 400];

/**
 * A page that has just arrived is refused for a moment while its process takes over from the one before, most of all on
 * a loaded machine; nothing tells when that is over. Tries again when the browser refuses.
 */
async function whenSettled<T>(action: () => Promise<T>): Promise<T> {
  for (const pause of SETTLE_PAUSES_MS) {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof CdpError) || error.reason !== 'refused') throw error;
      await sleep(pause);
    }
  }
  return action();
}
