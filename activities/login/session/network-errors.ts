import type { Page, Request } from 'playwright-core';
import type { LoginTarget } from '../../../contract/activities.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { failure } from '../../activity.ts';
import { retrieveSession } from '../../../browser-client/sessions.ts';
import { portOf } from '../../../egress/guard.ts';
import type { EgressPolicy } from '../../../egress/policy.ts';
import { EgressRefusedError, resolveChecked } from '../../../egress/resolve.ts';
import type { LoginDeps } from '../deps.ts';

/** Fails with `proxy_unknown` if the target's proxy no longer exists: the session must not connect without it. */
export async function assertProxyExists({ store }: Pick<LoginDeps, 'store'>, target: LoginTarget): Promise<void> {
  const proxy = target.browser?.proxy;
  if (proxy === undefined || proxy.mode !== undefined) return;
  const { id, name = '' } = proxy;
  const { outcome } = await store.proxies.match(target.projectId, id === undefined ? { name } : { id });
  if (outcome !== 'found') throw failure('proxy_unknown', "the connection's proxy no longer exists", true);
}

/** Fails if a page is unavailable because of the session's proxy: that says nothing about the site, and a retry would not help. */
export async function failOnProxyError(
  { service }: Pick<LoginDeps, 'service'>,
  target: LoginTarget,
  sessionId: string,
  reading: Pick<PageReading, 'kind'>,
): Promise<void> {
  if (reading.kind !== 'unavailable' || target.browser?.proxy === undefined) return;
  const { proxy } = await retrieveSession(service, target.projectId, sessionId);
  const fault = proxy?.last_fault;
  // The proxy may have failed to reach another host than the site: browsers make requests of their own.
  if (fault !== undefined && fault !== 'target_unreached')
    throw failure(`proxy_${fault}`, "the connection's proxy failed", true);
}

/** Navigates a page by `work`. Fails with `address_refused` if the egress proxy refused the page's last URL. */
export async function failOnRefusedAddress<Reading extends Pick<PageReading, 'kind'>>(
  page: Page,
  egress: EgressPolicy,
  work: () => Promise<Reading>,
): Promise<Reading> {
  let lastUrl = '';
  const onRequest = (request: Request): void => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) lastUrl = request.url();
  };
  page.on('request', onRequest);
  try {
    const reading = await work();
    await failIfRefused(egress, lastUrl, reading);
    return reading;
  } finally {
    page.off('request', onRequest);
  }
}

/** Fails with `address_refused` if a page without content of a site was requested from a refused address. */
export async function failIfRefused(
  egress: EgressPolicy,
  address: string,
  { kind }: Pick<PageReading, 'kind'>,
): Promise<void> {
  if ((kind === 'blocked' || kind === 'unavailable') && (await isRefused(egress, address)))
    throw failure('address_refused', 'the login page is at an address that the egress rules refuse', true);
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
