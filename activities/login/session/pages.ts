import { tmpdir } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { failure } from '../../activity.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import { deleteSession, retrieveSession } from '../../../browser-client/sessions.ts';
import { trackRequests } from '../reading/traffic.ts';
import { forceOpenShadowRoots } from '../reading/shadow-roots.ts';
import { cancelSignInPrompts } from './sign-in-prompts.ts';
import { isForeignWindow, openWindow } from './windows.ts';

const CONNECT_TIMEOUT_MS = 15_000;

/** Without this, Playwright creates a folder per connection and leaves it behind if the browser closes first. */
const ARTIFACTS_FOLDER = tmpdir();

/** This worker's CDP connections to browser sessions, one per session. */
export interface Pages {
  /**
   * The page in front: the newest page of the session's default context that is not a foreign window. If it has crashed, the
   * session is deleted and this fails with `session_gone`, because the state of the page is lost.
   */
  of(projectId: string, sessionId: string, cdpUrl?: string): Promise<Page>;
  /** Closes the connection to a session. The session itself stays. */
  release(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

/** Creates the connections. They are kept between activities and reopened if lost. */
export function createPages(service: BrowserService): Pages {
  const browsers = new Map<string, Promise<Browser>>();
  const crashed = new WeakSet<Page>();
  const prepared = new WeakMap<Page, Promise<void>>();
  const watch = (page: Page): void => {
    page.once('crash', () => crashed.add(page));
    trackRequests(page);
    // Fails if the page is gone.
    prepared.set(
      page,
      cancelSignInPrompts(page).catch(() => undefined),
    );
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
      for (const context of browser.contexts()) {
        await forceOpenShadowRoots(context);
        context.pages().forEach(watch);
        context.on('page', watch);
      }
      return browser;
    } catch {
      // The error quotes the URL, which contains a token. If the session has ended, this fails with `session_gone`.
      await retrieveSession(service, projectId, sessionId);
      throw failure('browser_error', 'the browser session does not accept a connection', false);
    }
  };

  const forget = (sessionId: string, connection: Promise<Browser>): void => {
    if (browsers.get(sessionId) === connection) browsers.delete(sessionId);
  };

  const open = (projectId: string, sessionId: string, cdpUrl: string | undefined): Promise<Browser> => {
    const opening = connect(projectId, sessionId, cdpUrl);
    browsers.set(sessionId, opening);
    const onGone = (): void => forget(sessionId, opening);
    // After a disconnect the next caller reconnects.
    void opening.then((browser) => browser.once('disconnected', onGone), onGone);
    return opening;
  };

  const browserOf = async (projectId: string, sessionId: string, cdpUrl: string | undefined): Promise<Browser> => {
    const known = browsers.get(sessionId);
    const browser = await known?.catch(() => null);
    if (browser?.isConnected() === true) return browser;
    if (known !== undefined) forget(sessionId, known);
    return await (browsers.get(sessionId) ?? open(projectId, sessionId, cdpUrl));
  };

  return {
    async of(projectId, sessionId, cdpUrl) {
      const browser = await browserOf(projectId, sessionId, cdpUrl);
      const context = browser.contexts()[0];
      if (context === undefined) throw failure('session_gone', 'the browser has no open window', true);
      const page = context.pages().findLast((each) => !isForeignWindow(each)) ?? (await openWindow(context));
      await prepared.get(page);
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
