import type { Page } from 'playwright-core';

/** Requests of scripts. A document that asks for HTTP authentication is recognized when it is read. */
const PATTERNS = [{ resourceType: 'XHR' as const }, { resourceType: 'Fetch' as const }];

/**
 * Has the browser pass HTTP authentication challenges on to the scripts that sent the requests. It would prompt, and the request,
 * which nobody answers for, would never end: a check of an application with a stale password would wait for its timeout.
 */
export async function cancelSignInPrompts(page: Page): Promise<void> {
  // The session of `cdpSessionOf` pauses responses with other patterns, and stops all at once.
  const session = await page.context().newCDPSession(page);
  session.on('Fetch.requestPaused', ({ requestId }) => {
    // Fails if the page is gone.
    session.send('Fetch.continueRequest', { requestId }).catch(() => undefined);
  });
  session.on('Fetch.authRequired', ({ requestId }) => {
    const authChallengeResponse = { response: 'CancelAuth' as const };
    session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => undefined);
  });
  await session.send('Fetch.enable', { handleAuthRequests: true, patterns: PATTERNS });
}
