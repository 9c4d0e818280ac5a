import type { Page, Request } from 'playwright-core';
import type { LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { failure } from '../../activity.ts';
import { retrieveSession } from '../../../browser-client/sessions.ts';
import { portOf } from '../../../egress/guard.ts';
import type { EgressPolicy } from '../../../egress/policy.ts';
import { EgressRefusedError, resolveChecked } from '../../../egress/resolve.ts';
import type { LoginDeps } from '../deps.ts';

/** Fails when the target's proxy is not there any more: its session would be refused, and must not go out another way. */
export async function assertProxyExists({ store }: Pick<LoginDeps, 'store'>, target: LoginTarget): Promise<void> {
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
export async function failOnProxyError(
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

/**
 * Leads a page somewhere by `work`. Fails when the last address that the page asked for is one that the egress rules
 * refuse: what it shows then is the guard's own answer, and says nothing of the site.
 */
export async function failOnRefusedAddress<Reading extends Pick<PageReading, 'kind'>>(
  page: Page,
  egress: EgressPolicy,
  work: () => Promise<Reading>,
): Promise<Reading> {
  let asked = '';
  const onRequest = (request: Request): void => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) asked = request.url();
  };
  page.on('request', onRequest);
  try {
    const reading = await work();
    await failIfRefused(egress, asked, reading);
    return reading;
  } finally {
    page.off('request', onRequest);
  }
}

/** Fails with `address_refused` when a page that shows nothing of a site was asked for at an address that is refused. */
export async function failIfRefused(
  egress: EgressPolicy,
  address: string,
  { kind }: Pick<PageReading, 'kind'>,
): Promise<void> {
  if ((kind === 'blocked' || kind === 'unavailable') && (await isRefused(egress, address)))
    throw failure('address_refused', 'the login page lies at an address that egress rules refuse', true);
}

async function isRefused(egress: EgressPolicy, address: string): Promise<boolean> {
  if (!/^https?:/.test(address)) return false;
  const url = new URL(address);
  try {
    await resolveChecked(egress, url.hostname, portOf(url));
    return false;
  } catch (error) {
    return error instanceof EgressRefusedError;
  }
}
