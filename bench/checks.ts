import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
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
import { median, secondsOf, type Figure } from './figure.ts';
import { answer, clientOf, connect, isAwaitingInput, isDone, waitForState } from './logins.ts';
import { processorTime, sessionProcesses } from './processes.ts';

const BROWSER_CHECKS = 7;
/** Measured together, because the clock of processor time is coarse. */
const REQUEST_CHECKS = 100;
/** Rare enough not to affect the measurement. */
const SAMPLE_INTERVAL_MS = 100;
/** How many times cheaper a check without a browser should be. */
const AIM = 50;
const PROFILE = 'bench-checks';
const nothing = (): void => undefined;

/**
 * Compares the processor time of a health check in a browser with one by a request, on the same profile. It includes this
 * process, which is both worker and browser service, and all processes of Chromium, but not the store.
 */
export async function measureChecks(tree: ProcessTree, chromiumPath: string): Promise<Figure[]> {
  const kernel = clientOf(tree);
  const { id } = await connect(kernel, tree, PROFILE);
  await kernel.auth.connections.login(id);
  await answer(kernel, await waitForState(kernel, id, isAwaitingInput));
  await waitForState(kernel, id, isDone);

  const store = await tree.openStore();
  const workDir = await mkdtemp(join(tmpdir(), 'hf-bench-checks-'));
  const egress = createEgressPolicy(tree.sandboxDomain);
  // Without warm browsers, so that a check includes the start of its browser.
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
    if (requestCheck === undefined || requestCheck === null) throw new Error('no request check was found');
    const byBrowser = { cpu: [] as number[], wall: [] as number[] };
    const byRequest = { cpu: [] as number[], wall: [] as number[] };
    for (let run = 0; run < BROWSER_CHECKS; run += 1) {
      await recordChecks(workDir, byBrowser, 1, 'browser', () => check(null));
      await recordChecks(workDir, byRequest, REQUEST_CHECKS, 'request', () => check(requestCheck));
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

/** Runs `count` checks and records the mean of each, in milliseconds of processor and wall time. Throws unless all use `method`. */
async function recordChecks(
  workDir: string,
  into: { cpu: number[]; wall: number[] },
  count: number,
  method: 'browser' | 'request',
  check: () => Promise<HealthOutcome>,
): Promise<void> {
  // Without a browser, sampling would cost more than the checks.
  const chromium = method === 'browser' ? watchChromiums(workDir) : null;
  const before = process.cpuUsage();
  const began = performance.now();
  for (let done = 0; done < count; done += 1) {
    const { outcome, check: how } = await check();
    if (outcome !== 'authenticated' || how?.method !== method)
      throw new Error(`unexpected check: ${String(how?.method)}, ${outcome}`);
  }
  into.wall.push((performance.now() - began) / count);
  const { user, system } = process.cpuUsage(before);
  into.cpu.push(((user + system) / 1000 + ((await chromium?.stop()) ?? 0)) / count);
}

/** Samples the processor time of all Chromium processes of a service; `stop` returns the sum in milliseconds. */
function watchChromiums(workDir: string): { stop(): Promise<number> } {
  const times = new Map<number, number>();
  const stopped = new AbortController();
  const sample = async (): Promise<void> => {
    for (const { pid } of await sessionProcesses(workDir))
      times.set(pid, Math.max(times.get(pid) ?? 0, await processorTime(pid)));
  };
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      await sample();
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_INTERVAL_MS));
    }
  })();
  return {
    async stop() {
      stopped.abort();
      await watching;
      return [...times.values()].reduce((sum, each) => sum + each, 0);
    },
  };
}

function millisecondsOf(values: readonly number[]): string {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return `${median(values).toFixed(1)} ms (${least.toFixed(1)} to ${most.toFixed(1)}, n=${String(values.length)})`;
}
