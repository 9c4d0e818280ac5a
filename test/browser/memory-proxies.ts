import type { ProxyStore, StoredProxy } from '../../browser/session/session-proxy.ts';
import { UPSTREAM_LOGIN } from '../egress/upstream-proxy.ts';

/** Proxies in memory. */
export interface MemoryProxies extends ProxyStore {
  /** A proxy on this machine with the login of the tests' upstream. */
  add(id: string, port: number, change?: Partial<StoredProxy>): void;
  remove(id: string): void;
}

export function memoryProxies(): MemoryProxies {
  const proxies = new Map<string, StoredProxy>();
  return {
    add: (id, port, change = {}) => {
      const defaults = { protocol: 'http' as const, host: 'localhost', bypassHosts: [], name: null };
      proxies.set(id, { id, port, ...defaults, ...UPSTREAM_LOGIN, ...change });
    },
    remove: (id) => void proxies.delete(id),
    open: async (_projectId, ref) => {
      const [proxy, other] = [...proxies.values()].filter((one) =>
        'id' in ref ? one.id === ref.id : one.name === ref.name,
      );
      if (proxy === undefined) return { outcome: 'none' };
      return other === undefined ? { outcome: 'found', proxy } : { outcome: 'ambiguous' };
    },
  };
}
