import type { CdpConnection } from '../cdp/connection.ts';
import { OWN_TARGET_URL } from './pages.ts';

/**
 * Runs something on a hidden page of the service's own, empty and in that context, which goes afterwards. The session's
 * pages and their focus stay as they are; clients that follow targets see one of the type `other` come and go.
 */
export async function withOwnPage<T>(
  cdp: CdpConnection,
  browserContextId: string | undefined,
  action: (sessionId: string) => Promise<T>,
): Promise<T> {
  const { targetId } = await cdp.send('Target.createTarget', {
    url: OWN_TARGET_URL,
    background: true,
    hidden: true,
    ...(browserContextId === undefined ? {} : { browserContextId }),
  });
  try {
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    return await action(sessionId);
  } finally {
    await cdp.send('Target.closeTarget', { targetId }).catch(() => undefined);
  }
}
