import type { CdpConnection } from '../cdp/connection.ts';
import { OWN_TARGET_URL } from './pages.ts';

/** A hidden page of the service's own, empty. Clients that follow targets see one of the type `other`. */
export interface OwnPage {
  sessionId: string;
  close(): Promise<void>;
}

/** Opens one in that context. The session's pages and their focus stay as they are. */
export async function openOwnPage(cdp: CdpConnection, browserContextId: string | undefined): Promise<OwnPage> {
  const { targetId } = await cdp.send('Target.createTarget', {
    url: OWN_TARGET_URL,
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

/** Runs something on such a page, which goes afterwards. */
export async function withOwnPage<T>(
  cdp: CdpConnection,
  browserContextId: string | undefined,
  action: (sessionId: string) => Promise<T>,
): Promise<T> {
  const page = await openOwnPage(cdp, browserContextId);
  try {
    return await action(page.sessionId);
  } finally {
    await page.close().catch(() => undefined);
  }
}
