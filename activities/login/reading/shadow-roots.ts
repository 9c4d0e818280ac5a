import type { CDPSession, Page, BrowserContext } from 'playwright-core';
import { z } from 'zod';
import { cdpSessionOf } from '../session/cdp-session.ts';

/** A node as the browser describes it; only what leads to shadow roots. */
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

/** Runs on the host of a closed root: from here on, whoever asks it for its root gets it, as of an open one. */
const EXPOSE_ROOT = `function (root) { Object.defineProperty(this, 'shadowRoot', { value: root, configurable: true }); }`;

/**
 * Opens the closed shadow roots that a page's markup declares to those who read the page: no script attaches them, so that
 * nothing can have them attached open. The browser's debugger sees them. Frames of other sites keep theirs.
 * @returns how many it has opened; 0 when the page is gone meanwhile.
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
    // It tells of every context that there is before it answers.
    await session.send('Runtime.enable');
    for (const pair of closed) await showIn(session, contexts, pair);
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

/** Scripts of a page and those that read it see objects of their own: each is told. */
async function showIn(session: CDPSession, contexts: readonly number[], { host, root }: HostAndRoot): Promise<void> {
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
      // A context of another frame does not know the node.
    }
  }
}

/**
 * Runs before a page's own scripts. A proxy, not a function of ours: it calls itself native, as the browser's own does.
 * A string, because a serialized function would carry what the loader adds to functions.
 */
const OPEN_ROOTS_SCRIPT = `Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {
  apply: (attach, host, [init, ...rest]) => Reflect.apply(attach, host, [init && { ...init, mode: 'open' }, ...rest]),
});`;

/**
 * Has every document that the context opens from now on attach its shadow roots open, those that ask for closed ones
 * too: what stands in a closed root can be neither read nor found again to be filled in. The browser runs it itself, so that
 * no content security policy stops it. Roots that are declared in markup
 * are opened when the page is read (declared-roots.ts).
 */
export async function forceOpenShadowRoots(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: OPEN_ROOTS_SCRIPT });
}
