import { request } from 'undici';
import { localBaseUrl } from './connections.ts';
import { loadKeys } from './keys.ts';
import type { Keys } from './keys.ts';
import { ownStore } from './postgres/own-store.ts';
import { neededPorts, planProcesses } from './processes.ts';
import { quickStart } from './quick-start.ts';
import { retrying } from './retrying.ts';
import { runCommand } from './run-command.ts';
import { runTree } from './run-tree.ts';
import { parseSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { findChromium } from './setup/chromium.ts';
import { SetupError } from './setup/setup-error.ts';
import { findTemporalCli } from './setup/temporal.ts';

/** All processes run by then; on a busy machine the parts need some time to find each other. */
const HEALTHY_WITHIN_MS = 60_000;

/** `npm start`: sets up what is missing, runs everything as one process tree, and prints how to use it. */
async function main(): Promise<void> {
  const settings = parseSettings();
  if (settings.browserBaseUrl !== undefined && settings.browserApiKey === undefined) {
    throw new SetupError('Wrong settings: BROWSER_API_KEY must be set together with BROWSER_BASE_URL.');
  }
  await runTree({
    name: 'Holdfast',
    dataDir: settings.dataDir,
    ports: neededPorts(settings),
    plan: async () => {
      // Here for the processes that all want them at once, and so that a wrong one is told before anything runs.
      await loadKeys(settings);
      return planProcesses(settings, {
        temporal: settings.externalTemporal ? undefined : await findTemporalCli(),
        store: settings.databaseUrl === undefined ? await ownStore(settings.dataDir) : undefined,
        chromium: settings.browserBaseUrl === undefined ? await findChromium(settings.chromiumPath) : undefined,
      });
    },
    ready: async () => {
      await untilHealthy(settings);
      const keys = await loadKeys(settings);
      return quickStart(settings, keys, await isKeyAccepted(settings, keys));
    },
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

/** False when the installation's own key was revoked or rotated through the API; any other answer leaves it as it is. */
async function isKeyAccepted(settings: Settings, keys: Keys): Promise<boolean> {
  const answer = await request(`${localBaseUrl(settings.host, settings.ports.api)}/auth/context`, {
    headers: { authorization: `Bearer ${keys.apiKey}` },
  }).catch(() => undefined);
  await answer?.body.dump();
  return answer?.statusCode !== 401;
}

await runCommand(main);
