import { HoldfastError } from '../../contract/errors.ts';
import { DEFAULT_EXECUTOR, type PlaywrightExecute, type PlaywrightResult } from '../../contract/playwright.ts';
import type { CdpProxy } from '../cdp/proxy.ts';
import type { PageTracker } from '../chromium/pages.ts';
import { createQueue, type Session } from '../session/session.ts';
import { executePlaywright, type RunTab } from './execute.ts';

/** Most named executors per session. Each has a tab, and a process while it runs. */
const MAX_EXECUTORS = 8;

interface Executor {
  queue: ReturnType<typeof createQueue>;
  /** Running and queued calls. */
  calls: number;
  /** Its tab, once opened. The default executor has none. */
  targetId: string | null;
}

/**
 * Executors run their calls one at a time, and in parallel with each other. A named executor keeps a tab, and reopens it when it
 * was closed; the default executor uses the active page.
 */
export function createExecutors(proxy: CdpProxy) {
  const ofSession = new WeakMap<Session, Map<string, Executor>>();

  function findOrCreate(session: Session, name: string): Executor {
    const executors = ofSession.get(session) ?? new Map<string, Executor>();
    ofSession.set(session, executors);
    const existing = executors.get(name);
    if (existing !== undefined) return existing;
    const { pages } = session.chromium;
    // Evict executors with neither calls nor a tab.
    for (const [other, { calls, targetId }] of executors)
      if (calls === 0 && !isOpen(pages, targetId)) executors.delete(other);
    const named = [...executors.keys()].filter((other) => other !== DEFAULT_EXECUTOR);
    if (name !== DEFAULT_EXECUTOR && named.length >= MAX_EXECUTORS) {
      throw new HoldfastError(
        'invalid_request',
        `executor: a session allows at most ${String(MAX_EXECUTORS)}; reuse one, or close the tab of one`,
      );
    }
    const executor: Executor = { queue: createQueue(), calls: 0, targetId: null };
    executors.set(name, executor);
    return executor;
  }

  async function tabOf(session: Session, executor: Executor): Promise<RunTab> {
    const { pages, cdp } = session.chromium;
    if (executor.targetId !== null && isOpen(pages, executor.targetId))
      return { targetId: executor.targetId, kind: 'kept' };
    const inUse = pages.active();
    const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank', background: true });
    executor.targetId = targetId;
    await pageTracked(pages, targetId);
    // The active page stays the same for the default executor and other input.
    if (inUse !== undefined) pages.activated(inUse.targetId);
    return { targetId, kind: 'created' };
  }

  return {
    /** Runs code in the named executor. Throws like {@link executePlaywright}, and `invalid_request` for too many executors. */
    async run(session: Session, body: PlaywrightExecute, signal: AbortSignal): Promise<PlaywrightResult> {
      const executor = findOrCreate(session, body.executor);
      const openTab = (): Promise<RunTab> =>
        body.executor === DEFAULT_EXECUTOR
          ? Promise.resolve({ targetId: session.chromium.pages.active()?.targetId ?? '', kind: 'shared' })
          : tabOf(session, executor);
      executor.calls += 1;
      try {
        return await executor.queue(() => executePlaywright(session, proxy, body, openTab, signal));
      } finally {
        executor.calls -= 1;
      }
    },
  };
}

function isOpen(pages: PageTracker, targetId: string | null): boolean {
  return pages.all().some((page) => page.targetId === targetId);
}

/** Resolves when the tracker knows a page that was just opened. */
function pageTracked(pages: PageTracker, targetId: string): Promise<void> {
  if (isOpen(pages, targetId)) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = pages.onChange(() => {
      if (!isOpen(pages, targetId)) return;
      stop();
      resolve();
    });
  });
}
