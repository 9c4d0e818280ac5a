import { join } from 'node:path';
import { startBrowserService } from '../browser/service.ts';
import type { BrowserServiceOptions } from '../browser/service.ts';
import { createEgressPolicy } from '../egress/policy.ts';
import type { Store } from '../store/store.ts';
import { openStore } from './connections.ts';
import type { Keys } from './keys.ts';
import type { RunningRole } from './roles/run-role.ts';
import type { Settings } from './settings.ts';
import { findChromium } from './setup/chromium.ts';

/** Most browsers at once. Each takes 150 to 400 MB; a call beyond it is answered 529. */
const MAX_SESSIONS = 50;

/** Starts the browser service on the store that the settings lead to. `more`: what it is given of that store besides. */
export async function startBrowserRole(
  settings: Settings,
  keys: Keys,
  more: (store: Store) => Partial<BrowserServiceOptions> = () => ({}),
): Promise<RunningRole> {
  const store = await openStore(settings, keys);
  const service = await startBrowserService({
    port: settings.ports.browser,
    host: settings.host,
    apiKey: keys.browserApiKey,
    chromiumPath: await findChromium(settings.chromiumPath),
    workDir: join(settings.dataDir, 'browsers'),
    maxSessions: MAX_SESSIONS,
    allowUnsandboxedProcesses: settings.allowUnsandboxedProcesses,
    processNetwork: settings.processNetwork,
    processLimits: settings.processLimits,
    policy: createEgressPolicy(settings.allowPrivateHosts),
    profiles: store.profiles,
    proxies: store.proxies,
    ...more(store),
  });
  return {
    async close() {
      await service.close();
      await store.close();
    },
  };
}
