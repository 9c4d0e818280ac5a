import { request } from 'undici';
import { firstSignInLink } from './admin-commands.ts';
import { localBaseUrl, retry } from './backends.ts';
import { lockHolder } from './data-lock.ts';
import { loadKeys } from './keys.ts';
import type { Keys } from './keys.ts';
import { localStore } from './postgres/server.ts';
import { neededPorts, planProcesses, planStandaloneBrowser, standaloneBrowserPorts } from './processes.ts';
import { quickStart, standaloneBrowserQuickStart } from './quick-start.ts';
import { runTree } from './run-tree.ts';
import { parseSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { findChromium } from './setup/chromium.ts';
import { featureTable, ensureFeatures } from './setup/features.ts';
import type { FeatureState } from './setup/features.ts';
import { SetupError } from './setup/setup-error.ts';
import { findTemporalCli } from './setup/temporal.ts';

/** All processes run by then, but on a busy machine they need some time to connect. */
const HEALTHY_WITHIN_MS = 60_000;

/** `npm start`: installs missing programs, runs everything as one process tree, and prints how to use it. */
export async function startHoldfast(): Promise<void> {
  const settings = parseSettings();
  let features: FeatureState[] = [];
  if (settings.browserBaseUrl !== undefined && settings.browserApiKey === undefined) {
    throw new SetupError('Invalid configuration: BROWSER_API_KEY must be set together with BROWSER_BASE_URL');
  }
  await runTree({
    name: 'Holdfast',
    dataDir: settings.dataDir,
    ports: neededPorts(settings),
    plan: async () => {
      // Created before the processes all need them, and so that an invalid key is reported before anything runs.
      await loadKeys(settings);
      const ownBrowser = settings.browserBaseUrl === undefined;
      // Concurrently, because building Temporal takes minutes.
      const [temporal, store, chromium] = await Promise.all([
        settings.externalTemporal ? undefined : findTemporalCli(),
        settings.databaseUrl === undefined ? localStore(settings.dataDir) : undefined,
        ownBrowser ? findChromium(settings.chromiumPath) : undefined,
      ]);
      if (ownBrowser) features = await ensureFeatures();
      return planProcesses(settings, { temporal, store, chromium });
    },
    ready: async () => {
      await waitUntilHealthy(settings);
      const keys = await loadKeys(settings);
      const isAccepted = await isKeyAccepted(settings, keys);
      const link = await firstSignInLink(settings, keys);
      return [quickStart(settings, keys, isAccepted, link), ...featureTable(features)].join('\n');
    },
  });
}

/**
 * `npm run browser`: the browser service alone. If there is a store (at DATABASE_URL, or of an `npm start` in the same data
 * folder) it is a single process that uses it; else it runs its own store.
 */
export async function startBrowser(): Promise<void> {
  const settings = parseSettings();
  if (settings.databaseUrl !== undefined || (await lockHolder(settings.dataDir)) !== null) {
    await (await import('./roles/browser.ts')).runBrowser();
    return;
  }
  let features: FeatureState[] = [];
  await runTree({
    name: 'the browser service',
    dataDir: settings.dataDir,
    ports: standaloneBrowserPorts(settings),
    plan: async () => {
      await loadKeys(settings);
      features = await ensureFeatures();
      return planStandaloneBrowser(
        settings,
        await findChromium(settings.chromiumPath),
        await localStore(settings.dataDir),
      );
    },
    ready: async () =>
      [standaloneBrowserQuickStart(settings, await loadKeys(settings)), ...featureTable(features)].join('\n'),
  });
}

/** Waits until the API reports every part as ready, so that the printed commands work at once. */
async function waitUntilHealthy(settings: Settings): Promise<void> {
  const check = async (): Promise<void> => {
    const url = `${localBaseUrl(settings.host, settings.ports.api)}/health`;
    const answer = await request(url).catch((error: unknown) => {
      throw new SetupError(`Cannot start: ${url} is unreachable (${String(error)})`);
    });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new SetupError(`Cannot start: /health returned ${body}`);
  };
  await retry(check, HEALTHY_WITHIN_MS);
}

/** False if the installation's own key was revoked or rotated through the API; true for any other response. */
async function isKeyAccepted(settings: Settings, keys: Keys): Promise<boolean> {
  const answer = await request(`${localBaseUrl(settings.host, settings.ports.api)}/auth/context`, {
    headers: { authorization: `Bearer ${keys.apiKey}` },
  }).catch(() => undefined);
  await answer?.body.dump();
  return answer?.statusCode !== 401;
}
