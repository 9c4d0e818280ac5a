import type { CDPSession, Page, BrowserContext } from 'playwright-core';
import { z } from 'zod';
import { cdpSessionOf } from '../session/cdp-session.ts';

/** The parts of a CDP node that lead to shadow roots. */
interface DescribedNode {
  readonly backendNodeId: number;
  readonly shadowRootType?: string | undefined;
  readonly children?: readonly DescribedNode[] | undefined;
  readonly shadowRoots?: readonly DescribedNode[] | undefined;
  readonly contentDocument?: DescribedNode | undefined;
}

const DescribedNode: z.ZodType<DescribedNode> = z.object({
  backendNodeId: z.int(),
  shadowRootType: z.string().optional(),
  get children() {
    return z.array(DescribedNode).optional();
  },
  get shadowRoots() {
    return z.array(DescribedNode).optional();
  },
  get contentDocument() {
    return DescribedNode.optional();
  },
});

/** Runs on the host of a closed root and makes its `shadowRoot` return the root, as for an open one. */
const EXPOSE_ROOT = `function (root) { Object.defineProperty(this, 'shadowRoot', { value: root, configurable: true }); }`;

/**
 * Exposes the closed shadow roots declared in a page's markup, which {@link forceOpenShadowRoots} cannot open. They are found by CDP;
 * those in cross-site frames stay closed.
 * @returns how many were exposed; 0 if the page is closed meanwhile.
 */
export async function exposeDeclaredRoots(page: Page): Promise<number> {
  const contexts: number[] = [];
  const note = ({ context }: { context: { id: number } }): void => void contexts.push(context.id);
  const session = await cdpSessionOf(page);
  try {
    if (session === null) return 0;
    const { root } = await session.send('DOM.getDocument', { depth: -1, pierce: true });
    const closed = closedRootsIn(DescribedNode.parse(root));
    if (closed.length === 0) return 0;
    session.on('Runtime.executionContextCreated', note);
    // Reports all existing contexts before it resolves.
    await session.send('Runtime.enable');
    for (const pair of closed) await exposeIn(session, contexts, pair);
    return closed.length;
  } catch {
    return 0;
  } finally {
    session?.off('Runtime.executionContextCreated', note);
    await Promise.allSettled([session?.send('Runtime.disable'), session?.send('DOM.disable')]);
  }
}

interface HostAndRoot {
  readonly host: number;
  readonly root: number;
}

function closedRootsIn(node: DescribedNode): HostAndRoot[] {
  const own = (node.shadowRoots ?? [])
    .filter(({ shadowRootType: type }) => type === 'closed')
    .map(({ backendNodeId: root }) => ({ host: node.backendNodeId, root }));
  const below = [
    ...(node.children ?? []),
    ...(node.shadowRoots ?? []),
    ...(node.contentDocument ? [node.contentDocument] : []),
  ];
  return [...own, ...below.flatMap(closedRootsIn)];
}

/** Every execution context (the page's and Playwright's) has its own wrapper objects, so the root is exposed in each. */
async function exposeIn(session: CDPSession, contexts: readonly number[], { host, root }: HostAndRoot): Promise<void> {
  for (const executionContextId of contexts) {
    const objectOf = async (backendNodeId: number): Promise<string | undefined> =>
      (await session.send('DOM.resolveNode', { backendNodeId, executionContextId })).object.objectId;
    try {
      const [hostId, rootId] = [await objectOf(host), await objectOf(root)];
      if (hostId === undefined || rootId === undefined) continue;
      await session.send('Runtime.callFunctionOn', {
        functionDeclaration: EXPOSE_ROOT,
        objectId: hostId,
        arguments: [{ objectId: rootId }],
      });
    } catch {
      // The node does not exist in contexts of other frames.
    }
  }
}

/** Init script. A proxy, because it still prints as native code; a string, because loaders add to serialized functions. */
const OPEN_ROOTS_SCRIPT = `Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {
  apply: (attach, host, [init, ...rest]) => Reflect.apply(attach, host, [init && { ...init, mode: 'open' }, ...rest]),
});`;

/** Makes all future documents of a context attach shadow roots in open mode: elements in closed roots cannot be read. */
export async function forceOpenShadowRoots(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: OPEN_ROOTS_SCRIPT });
}
