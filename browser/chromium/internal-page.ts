import type { CdpConnection } from '../cdp/connection.ts';
import { INTERNAL_TARGET_URL } from './pages.ts';

interface InternalPage {
  sessionId: string;
  close(): Promise<void>;
}

/**
 * Opens an empty hidden page for the service itself, without changing the focus of the session's pages. Clients see its
 * target with the type `other`.
 */
export async function openInternalPage(
  cdp: CdpConnection,
  browserContextId: string | undefined,
): Promise<InternalPage> {
  const { targetId } = await cdp.send('Target.createTarget', {
    url: INTERNAL_TARGET_URL,
    background: true,
    hidden: true,
    ...(browserContextId === undefined ? {} : { browserContextId }),
  });
  const close = async (): Promise<void> => {
    await cdp.send('Target.closeTarget', { targetId });
  };
  try {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    return { sessionId, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** Runs `action` on an internal page and closes it afterwards. */
export async function withInternalPage<T>(
  cdp: CdpConnection,
  browserContextId: string | undefined,
  action: (sessionId: string) => Promise<T>,
): Promise<T> {
  const page = await openInternalPage(cdp, browserContextId);
  try {
    return await action(page.sessionId);
  } finally {
    await page.close().catch(() => undefined);
  }
}
