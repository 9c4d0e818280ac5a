import { expect, it, vi } from 'vitest';
import { HoldfastError } from '../../contract/errors.ts';
import { reviveApps, reviveExports, type AppReviverDeps } from '../../start/revivers.ts';
import { SCOPE, useStore } from '../store/databases.ts';

const context = useStore();
type State = Awaited<ReturnType<AppReviverDeps['apps']['state']>>;

/** A deployment with an app, and invocations of it, as rows alone. */
async function rows(invocations: number): Promise<{ deployment: string; ids: string[] }> {
  const { store } = context();
  const common = { entrypoint: 'index.mjs', envVars: {}, version: 'latest', force: false, archive: Buffer.of(1) };
  const { id: deployment } = await store.deployments.create(SCOPE, common);
  await store.deployments.begin(deployment);
  await store.deployments.finish(deployment, [{ name: 'app', actions: [{ name: 'run' }] }]);
  const ids: string[] = [];
  for (let made = 0; made < invocations; made += 1) {
    const wanted = { appName: 'app', version: 'latest', actionName: 'run', payload: null, retries: 2 };
    ids.push((await store.invocations.create(SCOPE, { ...wanted, timeoutSeconds: 3600 })).id);
  }
  return { deployment, ids };
}

function reviver(states: Map<string, State | Error>) {
  const deploy = vi.fn<AppReviverDeps['apps']['deploy']>().mockResolvedValue();
  const invoke = vi.fn<AppReviverDeps['apps']['invoke']>().mockResolvedValue();
  const state: AppReviverDeps['apps']['state'] = async (_, id) => {
    const found = states.get(id) ?? 'running';
    if (found instanceof Error) throw found;
    return found;
  };
  const ended: string[] = [];
  const endBrowsers: AppReviverDeps['endBrowsers'] = async (projectId, id) => {
    ended.push(`${projectId} ${id}`);
  };
  return { deps: { store: context().store, apps: { deploy, invoke, state }, endBrowsers }, deploy, invoke, ended };
}

/** Later than the age from which rows are looked at. */
const soon = (): Date => new Date(Date.now() + 60_000);

it('starts invocations that were never started, and ends terminated ones with their browsers and key', async () => {
  const { store } = context();
  const { ids } = await rows(3);
  const [running = '', lost = '', terminated = ''] = ids;
  const states = new Map<string, State>([
    [running, 'running'],
    [lost, 'none'],
    [terminated, 'ended'],
  ]);
  await store.apiKeys.createForInvocation(SCOPE, terminated, soon());
  const { deps, invoke, ended } = reviver(states);
  await reviveApps(deps, soon());
  expect(invoke.mock.calls.map(([input]) => [input.invocationId, input.retries])).toEqual([[lost, 2]]);
  expect(invoke.mock.calls[0]?.[0].timeoutMs).toBeGreaterThan(3_000_000);
  expect(ended).toEqual([`${SCOPE.projectId} ${terminated}`]);
  expect(await store.invocations.byId(terminated)).toMatchObject({
    status: 'failed',
    outcome: { reason: 'The workflow of the invocation was terminated' },
  });
  expect((await store.invocations.byId(running))?.finishedAt).toBeNull();
  for (const id of ids) await store.invocations.end(id, 'failed', {});
});

it('does the same for builds, and skips recent ones', async () => {
  const { store } = context();
  const common = { entrypoint: 'index.mjs', envVars: {}, version: 'latest', force: false, archive: Buffer.of(1) };
  const made = await Promise.all([1, 2, 3].map(() => store.deployments.create(SCOPE, common)));
  const [unstarted = '', terminated = '', away = ''] = made.map(({ id }) => id);
  await store.deployments.begin(terminated);
  const states = new Map<string, State | Error>([
    [away, new HoldfastError('unavailable', 'Temporal is away')],
    [unstarted, 'none'],
    [terminated, 'ended'],
  ]);
  const { deps, deploy } = reviver(states);
  await reviveApps(deps, new Date());
  expect(deploy).not.toHaveBeenCalled();
  await expect(reviveApps(deps, soon())).rejects.toThrow('Temporal is away');
  expect(deploy.mock.calls).toEqual([[unstarted]]);
  expect(await store.deployments.find(SCOPE, terminated)).toMatchObject({
    status: 'failed',
    statusReason: 'The workflow of the deployment was terminated; deploy again',
  });
  expect((await store.deployments.find(SCOPE, away))?.status).toBe('queued');
});

it('starts the workflows of active destinations only', async () => {
  const { auditExportDestinations: destinations } = context().store;
  const settings = { region: 'r', bucket: 'bucket', prefix: '', role_arn: 'a', kms_key_id: null };
  const ids: string[] = [];
  for (let made = 0; made < 102; made += 1) ids.push((await destinations.create(SCOPE.organizationId, settings)).id);
  await destinations.patch(SCOPE.organizationId, ids[0] ?? '', { status: 'paused' });
  const start = vi.fn<(id: string) => Promise<void>>().mockResolvedValue();
  await reviveExports(destinations, { start });
  expect(start.mock.calls.flat()).toEqual(ids.slice(1).toSorted());

  start.mockRejectedValue(new HoldfastError('unavailable', 'Temporal does not answer'));
  await expect(reviveExports(destinations, { start })).rejects.toMatchObject({ code: 'unavailable' });
});
