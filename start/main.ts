import { join } from 'node:path';
import { request } from 'undici';
import { localBaseUrl } from './connections.ts';
import { createSupervisor } from './supervisor.ts';
import type { Supervisor } from './supervisor.ts';
import { lockDataDir } from './data-lock.ts';
import type { DataLock } from './data-lock.ts';
import { loadKeys } from './keys.ts';
import { checkPorts } from './ports.ts';
import { neededPorts, planProcesses } from './processes.ts';
import { quickStart } from './quick-start.ts';
import { retrying } from './retrying.ts';
import { say } from './say.ts';
import { parseSettings } from './settings.ts';
import type { Settings } from './settings.ts';
import { findChromium } from './setup/chromium.ts';
import { SetupError } from './setup/setup-error.ts';
import { findTemporalCli } from './setup/temporal.ts';
import { onStopRequest } from './stop-request.ts';

/** All processes run by then; on a busy machine the parts need some time to find each other. */
const HEALTHY_WITHIN_MS = 60_000;

/** `npm start`: sets up what is missing, runs everything as one process tree, and prints how to use it. */
async function main(): Promise<void> {
  const settings = parseSettings();
  if (settings.browserBaseUrl !== undefined && settings.browserApiKey === undefined) {
    throw new SetupError('Wrong settings: BROWSER_API_KEY must be set together with BROWSER_BASE_URL.');
  }
  const held: { lock?: DataLock; supervisor?: Supervisor; stopping?: boolean } = {};

  const stop = async (how: string): Promise<void> => {
    if (held.stopping) {
      held.supervisor?.kill();
      process.exit(1);
    }
    held.stopping = true;
    // Nothing runs yet: the set-up may be broken off at any point.
    if (held.supervisor) say(`${how}: stopping ...`);
    await held.supervisor?.stop();
    await held.lock?.release();
    if (held.supervisor) say('Stopped.');
    process.exit(0);
  };
  onStopRequest((how) => void stop(how));

  try {
    const lock = (held.lock = await lockDataDir(settings.dataDir));
    await checkPorts(neededPorts(settings));
    const keys = await loadKeys(settings);
    const programs = {
      temporal: settings.externalTemporal ? undefined : await findTemporalCli(),
      chromium: settings.browserBaseUrl === undefined ? await findChromium(settings.chromiumPath) : undefined,
    };
    const began = Date.now();
    const supervisor = (held.supervisor = createSupervisor(planProcesses(settings, programs), {
      logDir: join(settings.dataDir, 'logs'),
      say,
      onSpawn: (name, pid) => lock.noteChild(name, pid),
      onReady: (name) => {
        say(`  ${name} is ready (${((Date.now() - began) / 1000).toFixed(1)} s)`);
      },
    }));
    say('Starting Holdfast ...');
    await supervisor.start();
    if (!held.stopping) await untilHealthy(settings);
    if (!held.stopping) say(quickStart(settings, keys));
  } catch (error) {
    await held.supervisor?.stop();
    await held.lock?.release();
    throw error;
  }
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

try {
  await main();
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  process.stderr.write(`holdfast: ${error.message}\n`);
  process.exitCode = 1;
}
