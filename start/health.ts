import { hostname } from 'node:os';
import type { Connection } from '@temporalio/client';
import protos from '@temporalio/proto';
import { request } from 'undici';
import type { HealthParts } from '../api/context.ts';
import type { Store } from '../store/store.ts';
import { TASK_QUEUE } from '../workflows/messages.ts';
import { processIdentity } from './process-identity.ts';

/** Dependencies of {@link createHealth}. */
interface HealthDeps {
  store: Pick<Store, 'ping'>;
  connection: Pick<Connection, 'workflowService' | 'withDeadline'>;
  namespace: string;
  browser: { baseUrl: string; apiKey: string };
}

const TIMEOUT_MS = 3_000;
/** A worker polls at least once a minute; a poller older than this counts as gone. */
const POLLER_MAX_AGE_MS = 70_000;

/** Checks every part concurrently, with a timeout of a few seconds. Never rejects. */
export function createHealth(deps: HealthDeps): () => Promise<HealthParts> {
  const checks: Record<string, () => Promise<unknown>> = {
    store: () => deps.store.ping(),
    temporal: () => describeQueue(deps),
    worker: async () => {
      if (!(await hasWorker(deps))) throw new PartNotReady('no worker polls the task queue');
    },
    browser: () => checkBrowser(deps.browser),
  };
  return async () => {
    const results = Object.entries(checks).map(async ([name, check]) => [name, await checkPart(check)] as const);
    return Object.fromEntries(await Promise.all(results));
  };
}

/** A message that is safe to show without authentication. */
class PartNotReady extends Error {}

async function checkPart(check: () => Promise<unknown>): Promise<{ ready: boolean; message?: string }> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new PartNotReady('does not answer in time'));
    }, TIMEOUT_MS);
  });
  try {
    await Promise.race([check(), timeout]);
    return { ready: true };
  } catch (error) {
    return { ready: false, message: error instanceof PartNotReady ? error.message : 'does not answer' };
  } finally {
    clearTimeout(timer);
  }
}

function describeQueue({ connection, namespace }: HealthDeps) {
  return connection.withDeadline(Date.now() + TIMEOUT_MS, () =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: TASK_QUEUE },
      taskQueueType: protos.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    }),
  );
}

async function hasWorker(deps: HealthDeps): Promise<boolean> {
  const { pollers } = await describeQueue(deps);
  return pollers.some(
    (poller) =>
      Date.now() - Number(poller.lastAccessTime?.seconds ?? 0) * 1000 < POLLER_MAX_AGE_MS &&
      !isLocalAndDead(poller.identity ?? ''),
  );
}

/** The identity of workers is `process id@host`, so that a dead one on this machine is detected at once. */
function isLocalAndDead(identity: string): boolean {
  const [pid, host] = identity.split('@');
  return host === hostname() && processIdentity(Number(pid)) === undefined;
}

async function checkBrowser({ baseUrl, apiKey }: HealthDeps['browser']): Promise<void> {
  const answer = await request(`${baseUrl}/browsers?limit=1`, {
    headers: { authorization: `Bearer ${apiKey}` },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  });
  await answer.body.dump();
  if (answer.statusCode === 401 || answer.statusCode === 403) throw new PartNotReady('refuses BROWSER_API_KEY');
  if (answer.statusCode >= 400) throw new PartNotReady(`answers HTTP ${answer.statusCode}`);
}
