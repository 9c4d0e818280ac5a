import { INTERNAL_WORLD } from '../cdp/messages.ts';
import type { Chromium } from '../chromium/launch.ts';

/** Evaluates an expression in an isolated world of a page or frame, unaffected by its scripts. Rejects if the document goes away. */
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
