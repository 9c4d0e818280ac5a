import { invalidField } from '../../contract/errors.ts';
import type { BrowserProxy, BrowserProxyConfig } from '../../contract/proxies.ts';
import type { EgressProxy } from '../../egress/proxy.ts';
import type { Upstream } from '../../egress/upstream.ts';

/** A proxy from the store, with its password decrypted. */
export interface StoredProxy extends Upstream {
  id: string;
  name: string | null;
}

/** What the browser service needs of the store to route a session through a proxy. */
export interface ProxyStore {
  /** Finds a proxy of a project; names are not unique, so a name may be ambiguous. */
  open(
    projectId: string,
    ref: { id: string } | { name: string },
  ): Promise<{ outcome: 'found'; proxy: StoredProxy } | { outcome: 'none' | 'ambiguous' }>;
}

/** The fields of a request that choose a session's proxy. `proxy_id` is deprecated; an empty one removes the proxy. */
interface ProxyRequest {
  proxy?: BrowserProxyConfig | null | undefined;
  proxy_id?: string | null | undefined;
  disable_default_proxy?: boolean | undefined;
}

/** A resolved proxy: what callers see of it, and the upstream; both null for a direct connection. */
export interface ResolvedProxy {
  view: BrowserProxy | null;
  /** Contains a password. */
  upstream: Upstream | null;
}

/**
 * Resolves the proxy a request chooses; undefined if it does not mention one. A proxy the project does not have is a 400
 * that names the field: 404 means the session does not exist.
 */
export async function resolveProxy(
  store: ProxyStore,
  projectId: string,
  { proxy, proxy_id: proxyId, disable_default_proxy: noDefault }: ProxyRequest,
): Promise<ResolvedProxy | undefined> {
  if (proxy !== undefined && proxy !== null) {
    if (proxyId !== undefined && proxyId !== null) throw invalidField('proxy_id', 'cannot be combined with `proxy`');
    if (noDefault !== undefined) throw invalidField('disable_default_proxy', 'cannot be combined with `proxy`');
    if (proxy.mode !== undefined) return { view: proxy.mode === 'direct' ? { mode: 'direct' } : null, upstream: null };
    return proxy.id === undefined
      ? await openProxy(store, projectId, { name: proxy.name ?? '' }, 'proxy.name')
      : await openProxy(store, projectId, { id: proxy.id }, 'proxy.id');
  }
  if (proxyId === undefined) return undefined;
  if (proxyId === null || proxyId === '') return { view: null, upstream: null };
  return await openProxy(store, projectId, { id: proxyId }, 'proxy_id');
}

/** Routes a browser's traffic through a proxy from now on, and records the proxy's last fault in its view. */
export function applyProxy(egress: EgressProxy, { view, upstream }: ResolvedProxy): void {
  egress.route(upstream, (fault) => {
    if (view === null) return;
    if (fault === null) delete view.last_fault;
    else view.last_fault = fault;
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
      return { view: { id, ...(name === null ? {} : { name }) }, upstream: match.proxy };
    }
    case 'none':
      throw invalidField(field, 'no such proxy in this project; create it first');
    case 'ambiguous':
      throw invalidField(field, 'several proxies in this project have this name; use the id');
  }
}
