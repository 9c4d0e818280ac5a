import type { BrowserServiceHandle, BrowserServiceOptions } from '../../browser/service.ts';
import { startBrowserService } from '../../browser/service.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { memoryPools } from './memory-pools.ts';
import { API_KEY, memoryProfiles } from './memory-profiles.ts';

/** Required options. */
type Needed = Pick<BrowserServiceOptions, 'chromiumPath' | 'workDir' | 'warmBrowsers'> & { maxSessions: number };

/** Starts a service on a free port, by default without a store or logs. */
export function startQuietService(options: Needed & Partial<BrowserServiceOptions>): Promise<BrowserServiceHandle> {
  const quiet = (): void => undefined;
  return startBrowserService({
    port: 0,
    apiKey: API_KEY,
    policy: PUBLIC_ONLY,
    windows: 'on-request',
    profiles: memoryProfiles(),
    proxies: { open: async () => ({ outcome: 'none' }) },
    extensions: { use: async () => null },
    pools: memoryPools(),
    logger: { info: quiet, warn: quiet, error: quiet },
    ...options,
  });
}
