import { request } from 'undici';
import { localBaseUrl, openStore, retrying } from './connections.ts';
import { lockHolder } from './data-lock.ts';
import { loadKeys } from './keys.ts';
import type { Keys } from './keys.ts';
import { ownStore } from './postgres/server.ts';
import { neededPorts, planProcesses, planStandaloneBrowser, standaloneBrowserPorts } from './processes.ts';
import { quickStart, standaloneBrowserQuickStart } from './quick-start.ts';
import { runTree } from './run-tree.ts';
import { parseSettings } from './settings.ts';
import { firstSignInLink } from './sign-in.ts';
import type { Settings } from './settings.ts';
import { findChromium } from './setup/chromium.ts';
import { featureTable, provideFeatures } from './setup/features.ts';
import type { FeatureState } from './setup/features.ts';
import { SetupError } from './setup/setup-error.ts';
import { findTemporalCli } from './setup/temporal.ts';

/** All processes run by then; on a busy machine the parts need some time to find each other. */
const HEALTHY_WITHIN_MS = 60_000;

/** `npm start`: sets up what is missing, runs everything as one process tree, and prints how to use it. */
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
      // Here for the processes that all want them at once, and so that a wrong one is told before anything runs.
      await loadKeys(settings);
      const ownBrowser = settings.browserBaseUrl === undefined;
      // Side by side, for a Temporal that has to be built takes minutes.
      const [temporal, store, chromium] = await Promise.all([
        settings.externalTemporal ? undefined : findTemporalCli(),
        settings.databaseUrl === undefined ? ownStore(settings.dataDir) : undefined,
        ownBrowser ? findChromium(settings.chromiumPath) : undefined,
      ]);
      if (ownBrowser) features = await provideFeatures();
      return planProcesses(settings, { temporal, store, chromium });
    },
    ready: async () => {
      await untilHealthy(settings);
      const keys = await loadKeys(settings);
      const isAccepted = await isKeyAccepted(settings, keys);
      const link = await signInLink(settings, keys);
      return [quickStart(settings, keys, isAccepted, link), ...featureTable(features)].join('\n');
    },
  });
}

/**
 * `npm run browser`: the browser service without the rest of Holdfast. Where there is a store for it already (the database
 * at DATABASE_URL, or that of an `npm start` on the same folder) it is one process that uses it; else it brings its own.
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
      features = await provideFeatures();
      return planStandaloneBrowser(
        settings,
        await findChromium(settings.chromiumPath),
        await ownStore(settings.dataDir),
      );
    },
    ready: async () =>
      [standaloneBrowserQuickStart(settings, await loadKeys(settings)), ...featureTable(features)].join('\n'),
  });
}

/** Waits until the API itself says that all parts are ready: what is printed then can be pasted at once. */
async function untilHealthy(settings: Settings): Promise<void> {
  const ask = async (): Promise<void> => {
    const url = `${localBaseUrl(settings.host, settings.ports.api)}/health`;
    const answer = await request(url).catch((error: unknown) => {
      throw new SetupError(`Cannot start: ${url} does not answer (${String(error)})`);
    });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new SetupError(`Cannot start: /health answers ${body}`);
  };
  await retrying(ask, HEALTHY_WITHIN_MS);
}

/** The link that signs the first administrator in; null when an owner can sign in by other means. */
async function signInLink(settings: Settings, keys: Keys): Promise<string | null> {
  const store = await openStore(settings, keys);
  try {
    return await firstSignInLink(settings, store);
  } finally {
    await store.close();
  }
}

/** False when the installation's own key was revoked or rotated through the API; any other answer leaves it as it is. */
async function isKeyAccepted(settings: Settings, keys: Keys): Promise<boolean> {
  const answer = await request(`${localBaseUrl(settings.host, settings.ports.api)}/auth/context`, {
    headers: { authorization: `Bearer ${keys.apiKey}` },
  }).catch(() => undefined);
  await answer?.body.dump();
  return answer?.statusCode !== 401;
}
