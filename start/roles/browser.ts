import { join } from 'node:path';
import { startBrowserService } from '../../browser/service.ts';
import type { BrowserServiceOptions } from '../../browser/service.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { DEFAULT_ORGANIZATION_ID } from '../../store/store.ts';
import type { Store } from '../../store/store.ts';
import { openStore } from '../backends.ts';
import type { Keys } from '../keys.ts';
import type { Settings } from '../settings.ts';
import { findChromium } from '../setup/chromium.ts';
import { runRole } from './run-role.ts';
import type { RunningRole } from './run-role.ts';

/** The browser service of an installation. */
export async function runBrowser(): Promise<void> {
  await runRole('browser', (settings, keys) => start(settings, keys, () => ({})));
}

/**
 * The browser service without an API: it also serves the profiles of its sessions. Projects only separate profiles and are
 * created when callers name them.
 */
export async function runStandaloneBrowser(): Promise<void> {
  await runRole('browser', (settings, keys) =>
    start(settings, keys, ({ profiles, projects, browserPools }) => ({
      pools: {
        ...browserPools,
        create: async (projectId, definition) => {
          await projects.create(DEFAULT_ORGANIZATION_ID, { id: projectId, name: projectId });
          return browserPools.create(projectId, definition);
        },
      },
      profileRecords: {
        create: async (projectId, name) => {
          await projects.create(DEFAULT_ORGANIZATION_ID, { id: projectId, name: projectId });
          return profiles.create(scopeOf(projectId), name === null ? {} : { name });
        },
        find: (projectId, idOrName) => profiles.find(scopeOf(projectId), idOrName),
        list: (projectId, page) => profiles.list(scopeOf(projectId), page),
        rename: (projectId, idOrName, name) => profiles.rename(scopeOf(projectId), idOrName, name),
        remove: (projectId, idOrName) => profiles.remove(scopeOf(projectId), idOrName),
      },
    })),
  );
}

/** Starts the browser service on the configured store. `extraOptions` adds options that need the store. */
async function start(
  settings: Settings,
  keys: Keys,
  extraOptions: (store: Store) => Partial<BrowserServiceOptions>,
): Promise<RunningRole> {
  const store = await openStore(settings, keys);
  const service = await startBrowserService({
    port: settings.ports.browser,
    host: settings.host,
    apiKey: keys.browserApiKey,
    chromiumPath: await findChromium(settings.chromiumPath),
    workDir: join(settings.dataDir, 'browsers'),
    replaysKeptMs: settings.recordingDays * 24 * 60 * 60_000,
    telemetryKeptMs: settings.telemetryDays * 24 * 60 * 60_000,
    windows: settings.windows,
    ...(settings.maxSessions === undefined ? {} : { maxSessions: settings.maxSessions }),
    allowUnsandboxedProcesses: settings.allowUnsandboxedProcesses,
    processNetwork: settings.processNetwork,
    processLimits: settings.processLimits,
    policy: createEgressPolicy(settings.allowPrivateHosts),
    profiles: store.profiles,
    proxies: store.proxies,
    extensions: store.extensions,
    pools: store.browserPools,
    closedProjects: (projectIds) => store.projects.filterInactive(projectIds),
    sessionLimit: (projectId) => store.sessionLimits.effective(projectId),
    ...extraOptions(store),
  });
  return {
    async close() {
      await service.close();
      await store.close();
    },
  };
}

function scopeOf(projectId: string): { organizationId: string; projectId: string } {
  return { organizationId: DEFAULT_ORGANIZATION_ID, projectId };
}
