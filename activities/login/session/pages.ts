import { tmpdir } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { failure } from '../../activity.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import { deleteSession, retrieveSession } from '../../../browser-client/sessions.ts';
import { trackRequests } from '../reading/traffic.ts';
import { forceOpenShadowRoots } from '../reading/shadow-roots.ts';
import { isForeignWindow, openWindow } from './windows.ts';

/** How long the connection to a browser may take, in milliseconds. */
const CONNECT_TIMEOUT_MS = 15_000;

/**
 * Where Playwright would put traces and videos, of which none is made. Left to itself it makes a folder for each connection, and
 * leaves it behind when the browser goes first.
 */
const ARTIFACTS_FOLDER = tmpdir();

/** Connections of this worker to the browsers of running flows, to read their pages. */
export interface Pages {
  /**
   * The page that a person would look at: the newest of the session's default context that is not a stranger's. A session whose page has crashed
   * is ended: `session_gone`, for what was on the page is lost.
   */
  of(projectId: string, sessionId: string, cdpUrl?: string): Promise<Page>;
  /** Lets go of a session. Done when the connection is closed; the session itself stays. */
  release(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** Makes the connections; one for each session, kept between activities, opened again when it was lost. */
export function createPages(service: BrowserService): Pages {
  const browsers = new Map<string, Promise<Browser>>();
  const crashed = new WeakSet<Page>();
  const watch = (page: Page): void => {
    page.once('crash', () => crashed.add(page));
    trackRequests(page);
  };

  const connect = async (projectId: string, sessionId: string, cdpUrl: string | undefined): Promise<Browser> => {
    const url = cdpUrl ?? (await retrieveSession(service, projectId, sessionId)).cdp_ws_url;
    const { chromium } = await import('playwright-core');
    try {
      const browser = await chromium.connectOverCDP(url, {
        timeout: CONNECT_TIMEOUT_MS,
        noDefaults: true,
        artifactsDir: ARTIFACTS_FOLDER,
      });
      // One that has gone is looked for again where it is asked for; nothing of it is held on to.
      browser.once('disconnected', () => drop(sessionId, browser));
      for (const context of browser.contexts()) {
        await forceOpenShadowRoots(context);
        context.pages().forEach(watch);
        context.on('page', watch);
      }
      return browser;
    } catch {
      // The error quotes the address, which carries a token. A session that has ended says so here.
      await retrieveSession(service, projectId, sessionId);
      throw failure('browser_error', 'the browser session does not accept a connection', false);
    }
  };

  const drop = (sessionId: string, gone: Browser): void => {
    const known = browsers.get(sessionId);
    void known?.then(
      (browser) => {
        if (browser === gone && browsers.get(sessionId) === known) browsers.delete(sessionId);
      },
      () => undefined,
    );
  };

  const browserOf = async (projectId: string, sessionId: string, cdpUrl: string | undefined): Promise<Browser> => {
    const known = browsers.get(sessionId);
    if (known !== undefined) {
      const browser = await known.catch(() => null);
      if (browser?.isConnected() === true) return browser;
      if (browsers.get(sessionId) === known) browsers.delete(sessionId);
    }
    const opening = browsers.get(sessionId) ?? connect(projectId, sessionId, cdpUrl);
    browsers.set(sessionId, opening);
    try {
      return await opening;
    } catch (error) {
      if (browsers.get(sessionId) === opening) browsers.delete(sessionId);
      throw error;
    }
  };

  return {
    async of(projectId, sessionId, cdpUrl) {
      const browser = await browserOf(projectId, sessionId, cdpUrl);
      const context = browser.contexts()[0];
      if (context === undefined) throw failure('session_gone', 'the browser has no window any more', true);
      const page = context.pages().findLast((each) => !isForeignWindow(each)) ?? (await openWindow(context));
      if (!crashed.has(page)) return page;
      await this.release(sessionId);
      await deleteSession(service, projectId, sessionId).catch(() => undefined);
      throw failure('session_gone', 'the page of the browser session has crashed', true);
    },
    async release(sessionId) {
      const known = browsers.get(sessionId);
      browsers.delete(sessionId);
      await known?.then((browser) => browser.close()).catch(() => undefined);
    },
    async close() {
      await Promise.all([...browsers.keys()].map((sessionId) => this.release(sessionId)));
    },
  };
}
