import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { WebSocket } from 'ws';
import { median, secondsOf, type Figure } from './figure.ts';
import { startMeasuredBrowser } from './measured-browser.ts';
import { chromiumPid, sessionMemory } from './processes.ts';

/** Measured runs, after one warm-up run. */
const RUNS = 7;
/** The options of logins and health checks, without a display on every machine. */
const HEADLESS = { headless: true, stealth: true };
/** Round trips per run. */
const ROUND_TRIPS = 1000;
/** Sessions whose memory is measured together. */
const IDLE_SESSIONS = 6;
/** Time for Chromium to finish its work after a start. */
const SETTLE_MS = 5_000;
const RATE_FOR_MS = 30_000;

/** Measures the browser service alone: start, CDP latency, crash detection, memory and throughput. */
export async function measureBrowserService(chromiumPath: string): Promise<Figure[]> {
  const cold = await startMeasuredBrowser(chromiumPath, 0);
  const warm = await startMeasuredBrowser(chromiumPath, 1);
  try {
    return [
      ...(await measureStart(chromiumPath, cold.kernel, warm.kernel)),
      ...(await measureRoundTrip(cold.kernel, cold.workDir)),
      ...(await measureDeath(cold.kernel, cold.workDir)),
      ...(await measureMemory(cold.kernel, cold.workDir)),
      ...(await measureRate(warm.kernel)),
    ];
  } finally {
    await Promise.all([cold.stop(), warm.stop()]);
  }
}

/** Time until a script has run in a page, alternating with Playwright's launch of the same Chromium. */
async function measureStart(chromiumPath: string, cold: Kernel, warm: Kernel): Promise<Figure[]> {
  const session = async (kernel: Kernel): Promise<() => Promise<void>> => {
    const { session_id: id, cdp_ws_url: cdp } = await kernel.browsers.create(HEADLESS);
    const browser = await chromium.connectOverCDP(cdp, { noDefaults: true });
    await browser.contexts()[0]?.pages()[0]?.evaluate('1');
    return async () => {
      await browser.close();
      await kernel.browsers.deleteByID(id);
    };
  };
  const launch = async (): Promise<() => Promise<void>> => {
    const browser = await chromium.launch({ executablePath: chromiumPath, chromiumSandbox: process.getuid?.() !== 0 });
    await (await browser.newPage()).evaluate('1');
    return () => browser.close();
  };
  const times = { launch: [] as number[], cold: [] as number[], warm: [] as number[] };
  const starts = [
    ['launch', launch],
    ['cold', () => session(cold)],
    ['warm', () => session(warm)],
  ] as const;
  for (let run = 0; run <= RUNS; run += 1)
    for (const [name, start] of starts) {
      // The next warm browser starts meanwhile.
      await sleep(SETTLE_MS / 2);
      const began = performance.now();
      const end = await start();
      if (run > 0) times[name].push(performance.now() - began);
      await end();
    }
  return [
    { name: 'A page that runs a script: launched by Playwright', value: secondsOf(times.launch) },
    { name: 'The same by `POST /browsers` and its CDP URL, no browser ready', value: secondsOf(times.cold) },
    { name: 'The same with a browser ready', value: secondsOf(times.warm) },
  ];
}

/** Sequential commands to the same Chromium, direct and through the proxy. */
async function measureRoundTrip(kernel: Kernel, workDir: string): Promise<Figure[]> {
  const { session_id: id, cdp_ws_url: proxied } = await kernel.browsers.create(HEADLESS);
  const direct = await directUrl(workDir);
  const times = { direct: [] as number[], proxied: [] as number[] };
  for (let run = 0; run <= RUNS; run += 1)
    for (const [name, url] of [
      ['direct', direct],
      ['proxied', proxied],
    ] as const) {
      const each = await roundTrip(url);
      if (run > 0) times[name].push(each);
    }
  await kernel.browsers.deleteByID(id);
  const microseconds = (values: number[]): string => `${(median(values) * 1000).toFixed(0)} µs`;
  return [
    {
      name: `CDP round trip, direct and through the proxy (mean of ${ROUND_TRIPS}, middle of ${RUNS})`,
      value: `${microseconds(times.direct)} and ${microseconds(times.proxied)}`,
    },
  ];
}

/** Chromium's own CDP URL, from the file in its profile folder. */
async function directUrl(workDir: string): Promise<string> {
  const sessions = join(workDir, 'sessions');
  const [folder = ''] = await readdir(sessions);
  const [port, path] = (await readFile(join(sessions, folder, 'DevToolsActivePort'), 'utf8')).trim().split('\n');
  return `ws://127.0.0.1:${port ?? ''}${path ?? ''}`;
}

/** Mean of {@link ROUND_TRIPS} round trips, in milliseconds. */
async function roundTrip(url: string): Promise<number> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const began = performance.now();
  for (let id = 1; id <= ROUND_TRIPS; id += 1) {
    const response = new Promise((resolve) => socket.once('message', resolve));
    socket.send(JSON.stringify({ id, method: 'Browser.getVersion' }));
    await response;
  }
  const each = (performance.now() - began) / ROUND_TRIPS;
  socket.terminate();
  return each;
}

/** Time from `kill -9` of a session's Chromium until the session can no longer be retrieved. */
async function measureDeath(kernel: Kernel, workDir: string): Promise<Figure[]> {
  const times: number[] = [];
  for (let run = 0; run <= RUNS; run += 1) {
    const { session_id: id } = await kernel.browsers.create(HEADLESS);
    const pid = await chromiumPid(workDir);
    const began = performance.now();
    process.kill(pid, 'SIGKILL');
    while (
      await kernel.browsers.retrieve(id).then(
        () => true,
        () => false,
      )
    );
    if (run > 0) times.push(performance.now() - began);
  }
  return [{ name: 'A killed Chromium, until its session says so', value: secondsOf(times), aim: 'under 1 s' }];
}

async function measureMemory(kernel: Kernel, workDir: string): Promise<Figure[]> {
  const ids: string[] = [];
  for (let i = 0; i < IDLE_SESSIONS; i += 1) ids.push((await kernel.browsers.create(HEADLESS)).session_id);
  await sleep(SETTLE_MS);
  const each = (await sessionMemory(workDir)) / IDLE_SESSIONS;
  for (const id of ids) await kernel.browsers.deleteByID(id);
  return [
    {
      name: `Memory of an idle session (of ${IDLE_SESSIONS}, shared pages counted once)`,
      value: `${each.toFixed(0)} MB`,
    },
  ];
}

/** One caller per core, each creating and deleting sessions. */
async function measureRate(kernel: Kernel): Promise<Figure[]> {
  let ended = 0;
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (performance.now() - began < RATE_FOR_MS) {
      const { session_id: id } = await kernel.browsers.create(HEADLESS);
      await kernel.browsers.deleteByID(id);
      ended += 1;
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, one));
  const perMinute = (ended * 60_000) / (performance.now() - began);
  return [
    {
      name: `Sessions created and ended a minute, ${availableParallelism()} at once, client and service on the same cores`,
      value: perMinute.toFixed(0),
    },
  ];
}
