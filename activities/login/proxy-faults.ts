import type { LoginTarget } from '../../contract/activities.ts';
import type { PageReading } from '../../contract/reading.ts';
import { failure } from './faults.ts';
import { retrieveSession } from '../../browser-client/sessions.ts';
import type { LoginDeps } from './deps.ts';

/** Fails when the target's proxy is not there any more: its session would be refused, and must not go out another way. */
export async function requireProxy({ store }: Pick<LoginDeps, 'store'>, target: LoginTarget): Promise<void> {
  const proxy = target.browser?.proxy;
  if (proxy === undefined || proxy.mode !== undefined) return;
  const { id, name = '' } = proxy;
  const { outcome } = await store.proxies.match(target.projectId, id === undefined ? { name } : { id });
  if (outcome !== 'found') throw failure('proxy_unknown', "the connection's proxy is not there", true);
}

/**
 * Fails when a page could not be had because of the session's proxy: what the browser shows then says nothing of the site,
 * and would be the same at the next try.
 */
export async function blameProxy(
  { service }: Pick<LoginDeps, 'service'>,
  target: LoginTarget,
  sessionId: string,
  reading: Pick<PageReading, 'kind'>,
): Promise<void> {
  if (reading.kind !== 'unavailable' || target.browser?.proxy === undefined) return;
  const { proxy } = await retrieveSession(service, target.projectId, sessionId);
  const fault = proxy?.last_fault;
  // One target that the proxy does not reach may be another than the site: browsers have errands of their own.
  if (fault !== undefined && fault !== 'target_unreached')
    throw failure(`proxy_${fault}`, "the connection's proxy failed", true);
}
