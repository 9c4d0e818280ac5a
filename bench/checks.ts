import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkHealth } from '../activities/login/checks/check-health.ts';
import { createPages } from '../activities/login/session/pages.ts';
import { createBrowserService } from '../browser-client/service.ts';
import { startBrowserService } from '../browser/service.ts';
import type { HealthOutcome, LoginTarget } from '../contract/activities.ts';
import type { RequestCheck } from '../contract/document.ts';
import { createExternalCredentials } from '../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../egress/policy.ts';
import { DEFAULT_ORGANIZATION_ID, DEFAULT_PROJECT_ID } from '../store/store.ts';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import { processesUnder } from './browser-under-measure.ts';
import { median, secondsOf, type Figure } from './figure.ts';
import { answer, clientOf, connect, isAsking, isDone, untilState } from './logins.ts';

const BROWSER_CHECKS = 7;
/** So many requests are measured as one, for the clock of processor time is coarse. */
const REQUEST_CHECKS = 100;
/** Rare enough not to be measured itself. */
const LOOK_EVERY_MS = 100;
/** What a health check may cost without a browser, as a share of one with it. */
const AIM = 50;
const PROFILE = 'bench-checks';
const nothing = (): void => undefined;

/**
 * Processor time of a health check by a browser beside one by a request, as the worker makes them, on the same profile: that
 * of this process, which is worker and browser service in one, and of all processes of Chromium. The store's is left out.
 */
export async function measureChecks(tree: ProcessTree, chromiumPath: string): Promise<Figure[]> {
  const kernel = clientOf(tree);
  const { id } = await connect(kernel, tree, PROFILE);
  await kernel.auth.connections.login(id);
  await answer(kernel, await untilState(kernel, id, isAsking));
  await untilState(kernel, id, isDone);

  const store = await tree.openStore();
  const workDir = await mkdtemp(join(tmpdir(), 'hf-bench-checks-'));
  const egress = createEgressPolicy(tree.sandboxDomain);
  // None is started ahead of need: its start belongs to the check that takes it.
  const browser = await startBrowserService({
    ...{ port: 0, apiKey: 'bench', chromiumPath, workDir, maxSessions: 4, warmBrowsers: 0, policy: egress },
    profiles: store.profiles,
    proxies: store.proxies,
    extensions: store.extensions,
    pools: store.browserPools,
    sessionLimit: (projectId) => store.sessionLimits.effective(projectId),
    logger: { info: nothing, warn: nothing, error: nothing },
  });
  const service = createBrowserService({ baseUrl: browser.url, apiKey: 'bench' });
  const pages = createPages(service);
  const externalCredentials = createExternalCredentials({ providers: store.credentialProviders, egress });
  const check = (requestCheck?: RequestCheck | null): Promise<HealthOutcome> => {
    const target = targetOf(tree, id, requestCheck);
    const deps = { store, service, pages, egress, externalCredentials };
    return checkHealth(deps, target, randomUUID(), new AbortController().signal);
  };
  try {
    const { requestCheck } = await check();
    if (requestCheck === undefined || requestCheck === null) throw new Error('no request tells the session');
    const byBrowser = { cpu: [] as number[], wall: [] as number[] };
    const byRequest = { cpu: [] as number[], wall: [] as number[] };
    for (let run = 0; run < BROWSER_CHECKS; run += 1) {
      await measured(workDir, byBrowser, 1, 'browser', () => check(null));
      await measured(workDir, byRequest, REQUEST_CHECKS, 'request', () => check(requestCheck));
    }
    const ratio = median(byBrowser.cpu) / median(byRequest.cpu);
    return [
      { name: 'Processor time of a health check by a browser', value: secondsOf(byBrowser.cpu) },
      { name: 'Processor time of a health check by a request', value: millisecondsOf(byRequest.cpu) },
      { name: 'Browser over request', value: `${ratio.toFixed(0)} times`, aim: `at least ${String(AIM)} times` },
      { name: 'A health check by a browser takes', value: secondsOf(byBrowser.wall) },
      { name: 'A health check by a request takes', value: millisecondsOf(byRequest.wall) },
    ];
  } finally {
    await pages.close();
    await service.close();
    await browser.close();
    await store.close();
    await rm(workDir, { recursive: true, force: true });
  }
}

function targetOf(tree: ProcessTree, connectionId: string, requestCheck?: RequestCheck | null): LoginTarget {
  return {
    ...{ connectionId, organizationId: DEFAULT_ORGANIZATION_ID, projectId: DEFAULT_PROJECT_ID },
    ...{ domain: tree.sandboxDomain, profileName: PROFILE, loginUrl: `${tree.sandboxUrl}/login` },
    ...{ postLoginUrl: `${tree.sandboxUrl}/account`, allowedDomains: [], browser: null, credentialName: null },
    ...(requestCheck === undefined ? {} : { requestCheck }),
  };
}

/** Notes what one of `count` checks takes, in milliseconds of processor and of time. Each must go as `method` says. */
async function measured(
  workDir: string,
  into: { cpu: number[]; wall: number[] },
  count: number,
  method: 'browser' | 'request',
  check: () => Promise<HealthOutcome>,
): Promise<void> {
  // Where there is no browser, looking for one would be most of what is measured.
  const chromium = method === 'browser' ? watchProcessors(workDir) : null;
  const before = process.cpuUsage();
  const began = performance.now();
  for (let done = 0; done < count; done += 1) {
    const { outcome, check: how } = await check();
    if (outcome !== 'authenticated' || how?.method !== method) throw new Error(`a check went otherwise: ${outcome}`);
  }
  into.wall.push((performance.now() - began) / count);
  const { user, system } = process.cpuUsage(before);
  into.cpu.push(((user + system) / 1000 + ((await chromium?.stop()) ?? 0)) / count);
}

/** Adds up the processor time of all Chromium processes of a folder while they live, in milliseconds. */
function watchProcessors(workDir: string): { stop(): Promise<number> } {
  const ticks = new Map<string, number>();
  const over = new AbortController();
  const look = async (): Promise<void> => {
    for (const { pid } of await processesUnder(workDir)) {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      // User and system time, in hundredths of a second; the name before them may hold spaces.
      const [, , , , , , , , , , , user = '0', system = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (stat !== '') ticks.set(pid, Number(user) + Number(system));
    }
  };
  const watching = (async () => {
    while (!over.signal.aborted) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })();
  return {
    async stop() {
      over.abort();
      await watching;
      return [...ticks.values()].reduce((sum, each) => sum + each, 0) * 10;
    },
  };
}

function millisecondsOf(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(1)} ms (${least.toFixed(1)} to ${most.toFixed(1)}, n=${String(values.length)})`;
}
