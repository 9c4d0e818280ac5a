import { join } from 'node:path';
import { startBrowserService } from '../../browser/service.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { openStore } from '../connections.ts';
import { findChromium } from '../setup/chromium.ts';
import { runRole } from './run-role.ts';

/** Most browsers at once. Each takes 150 to 400 MB; a call beyond it is answered 529. */
const MAX_SESSIONS = 50;

await runRole('browser', async (settings, keys) => {
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
    policy: createEgressPolicy(settings.allowPrivateHosts),
    profiles: store.profiles,
    proxies: store.proxies,
  });
  return {
    async close() {
      await service.close();
      await store.close();
    },
  };
});
