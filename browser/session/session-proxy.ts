import { invalidField } from '../../contract/errors.ts';
import type { BrowserProxy, BrowserProxyConfig } from '../../contract/proxies.ts';
import type { EgressProxy } from '../../egress/proxy.ts';
import type { Upstream } from '../../egress/upstream.ts';

/** A proxy as the store hands it out, its password opened. */
export interface StoredProxy extends Upstream {
  id: string;
  name: string | null;
}

/** What the browser service needs of the store to send a session through a proxy. */
export interface ProxyStore {
  /** The proxy of a project that is meant; names are not unique, so a name may mean several. */
  open(
    projectId: string,
    ref: { id: string } | { name: string },
  ): Promise<{ outcome: 'found'; proxy: StoredProxy } | { outcome: 'none' | 'ambiguous' }>;
}

/** The parts of a request that choose a session's way out. `proxy_id` is the deprecated form; empty, it takes a proxy away. */
export interface ProxyRequest {
  proxy?: BrowserProxyConfig | null | undefined;
  proxy_id?: string | null | undefined;
  disable_default_proxy?: boolean | undefined;
}

/** A way out that was chosen: what callers see of it, and where it leads; null is straight out. */
export interface ResolvedProxy {
  shown: BrowserProxy | null;
  /** Holds a password. */
  upstream: Upstream | null;
}

/**
 * The way out that a request chooses; undefined when it says nothing of it. Refuses with 400, by the field, what the project
 * does not have: 404 is the answer for a session that is not there.
 */
export async function resolveProxy(
  store: ProxyStore,
  projectId: string,
  { proxy, proxy_id: proxyId, disable_default_proxy: noDefault }: ProxyRequest,
): Promise<ResolvedProxy | undefined> {
  if (proxy !== undefined && proxy !== null) {
    if (proxyId !== undefined && proxyId !== null) throw invalidField('proxy_id', 'cannot be combined with `proxy`');
    if (noDefault !== undefined) throw invalidField('disable_default_proxy', 'cannot be combined with `proxy`');
    if (proxy.mode !== undefined) return { shown: proxy.mode === 'direct' ? { mode: 'direct' } : null, upstream: null };
    return proxy.id === undefined
      ? await openProxy(store, projectId, { name: proxy.name ?? '' }, 'proxy.name')
      : await openProxy(store, projectId, { id: proxy.id }, 'proxy.id');
  }
  if (proxyId === undefined) return undefined;
  if (proxyId === null || proxyId === '') return { shown: null, upstream: null };
  return await openProxy(store, projectId, { id: proxyId }, 'proxy_id');
}

/** Sends a browser out by the chosen way from now on, and keeps what fails there for those who ask. */
export function applyProxy(egress: EgressProxy, { shown, upstream }: ResolvedProxy): void {
  egress.route(upstream, (fault) => {
    if (shown === null) return;
    if (fault === null) delete shown.last_fault;
    else shown.last_fault = fault;
  });
}

async function openProxy(
  store: ProxyStore,
  projectId: string,
  ref: { id: string } | { name: string },
  field: string,
): Promise<ResolvedProxy> {
  const match = await store.open(projectId, ref);
  switch (match.outcome) {
    case 'found': {
      const { id, name } = match.proxy;
      return { shown: { id, ...(name === null ? {} : { name }) }, upstream: match.proxy };
    }
    case 'none':
      throw invalidField(field, 'no such proxy in this project; create it first');
    case 'ambiguous':
      throw invalidField(field, 'several proxies of this project have this name; use the id');
  }
}
