import type { Proxy } from '../../contract/proxies.ts';
import type { ProxyRecord } from '../../store/queries/proxies.ts';

/** A proxy as it is answered: where it is and what its last check found, never its password. */
export function presentProxy(record: ProxyRecord): Proxy {
  return {
    id: record.id,
    ...(record.name === null ? {} : { name: record.name }),
    type: 'custom',
    protocol: record.protocol,
    ...(record.bypassHosts.length === 0 ? {} : { bypass_hosts: record.bypassHosts }),
    config: {
      host: record.host,
      port: record.port,
      ...(record.username === null ? {} : { username: record.username }),
      has_password: record.hasPassword,
    },
    ...(record.status === null ? {} : { status: record.status }),
    ...(record.lastCheckedAt === null ? {} : { last_checked: record.lastCheckedAt.toISOString() }),
  };
}
