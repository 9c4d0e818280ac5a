import { INTERNAL_WORLD } from '../cdp/messages.ts';
import type { Chromium } from '../chromium/launch.ts';

/**
 * What an expression comes to in the document of a page or frame, in a world of our own: what the page has made of its globals
 * is not seen there. Rejects when the document goes meanwhile.
 */
export async function evaluateInIsolatedWorld(
  cdp: Chromium['cdp'],
  sessionId: string,
  expression: string,
): Promise<unknown> {
  const { frameTree } = await cdp.send('Page.getFrameTree', undefined, sessionId);
  const world = { frameId: frameTree.frame.id, worldName: INTERNAL_WORLD };
  const { executionContextId: contextId } = await cdp.send('Page.createIsolatedWorld', world, sessionId);
  const { result } = await cdp.send('Runtime.evaluate', { expression, contextId, returnByValue: true }, sessionId);
  return result.value;
}
