import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Kernel from '@onkernel/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../../api/service.ts';
import { API_KEY, useListeningService, useService } from './service-fixture.ts';

const fixture = useService();
const service = useListeningService(fixture);
let kernel: Kernel;
let bound: Kernel;
beforeAll(async () => {
  kernel = service.client();
  const { key } = await kernel.apiKeys.create({ name: 'bound', project_id: 'prj_default' });
  bound = service.client({ apiKey: key });
});

/** What the plan of the fixture allows, while there is no connection. */
const ALLOWED = {
  ...{ auth_connections_used: 0, max_auth_connections: null, min_health_check_interval_seconds: 300 },
  ...{ max_vaults: 0, vaults_used: 0 },
  ...{ concurrent_sessions_used: null, concurrent_sessions_available: null },
};

describe('limits', () => {
  it('are set for all projects and for a single one', async () => {
    const { sessionLimits } = fixture().store;
    const { id } = await kernel.projects.create({ name: 'limited' });
    expect(await kernel.organization.limits.retrieve()).toEqual({
      ...ALLOWED,
      default_project_max_concurrent_sessions: null,
    });
    const all = await kernel.organization.limits.update({ default_project_max_concurrent_sessions: 5 });
    expect(all).toEqual({ ...ALLOWED, default_project_max_concurrent_sessions: 5 });
    expect(await kernel.projects.limits.update(id, { max_concurrent_sessions: 2 })).toMatchObject({
      max_concurrent_sessions: 2,
    });
    expect(await kernel.projects.limits.update('limited', {})).toMatchObject({ max_concurrent_sessions: 2 });
    expect(await Promise.all([id, 'prj_default'].map((project) => sessionLimits.effective(project)))).toEqual([2, 5]);
    await kernel.projects.limits.update(id, { max_concurrent_sessions: 0 });
    expect(await kernel.projects.limits.retrieve(id)).toMatchObject({ max_concurrent_sessions: null });
    await kernel.organization.limits.update({ default_project_max_concurrent_sessions: 0 });
    expect(await Promise.all([id, 'prj_default'].map((project) => sessionLimits.effective(project)))).toEqual([
      null,
      null,
    ]);
  });

  it('of a project stay within those of the organization, which show the usage', async () => {
    const { call, deps } = fixture();
    let asked = 0;
    const browsers = createServer(({ url, headers }, response) => {
      asked += 1;
      if (url !== '/session_usage') return response.end('{"status":"ok","sessions":0,"max_sessions":4}');
      const projects = [headers['x-kernel-project-id'], headers['x-holdfast-projects']].join();
      return response.end(JSON.stringify({ used: projects.split(',').length, available: 1 }));
    });
    await new Promise<void>((resolve) => browsers.listen(0, '127.0.0.1', resolve));
    const { port } = browsers.address() as AddressInfo;
    const settings = { ...deps.settings, browserBaseUrl: `http://127.0.0.1:${String(port)}` };
    const own = await startApi({ ...deps, settings, port: 0 });
    const asOwn = new Kernel({ apiKey: API_KEY, baseURL: own.url, maxRetries: 0 });
    const { id } = await kernel.projects.create({ name: 'within' });
    try {
      await expect(asOwn.projects.limits.update(id, { max_concurrent_sessions: 5 })).rejects.toMatchObject({
        status: 400,
        message: expect.stringMatching(
          /max_concurrent_sessions: .*max_concurrent_sessions of \/org\/limits is 4/,
        ) as string,
      });
      expect(await asOwn.projects.limits.update(id, { max_concurrent_sessions: 4 })).toMatchObject({
        max_concurrent_sessions: 4,
      });
      const { length: projects } = (await kernel.projects.list()).items;
      expect(await asOwn.organization.limits.retrieve()).toMatchObject({
        ...{ max_concurrent_sessions: 4, concurrent_sessions_used: projects, concurrent_sessions_available: 1 },
      });
      // Who only reads does not have the browser service asked each time.
      const readEntitlements = () =>
        fetch(`${own.url}/org/entitlements`, { headers: { authorization: `Bearer ${API_KEY}` } });
      const before = asked;
      for (let time = 0; time < 5; time += 1)
        expect(await (await readEntitlements()).json()).toMatchObject({ limits: { max_concurrent_browsers: 4 } });
      expect(asked - before).toBeLessThanOrEqual(1);
    } finally {
      await own.app.close();
      browsers.close();
      await call('DELETE', `/org/projects/${id}`);
    }
  });

  it('show the number of connections, and what the plan allows', async () => {
    const { call } = fixture();
    const { id } = await kernel.auth.connections.create({ domain: 'counted.example', profile_name: 'counted' });
    const used = async () =>
      (await call('GET', '/org/limits')).json<{ auth_connections_used: number }>().auth_connections_used;
    expect(await used()).toBe(1);
    await kernel.auth.connections.delete(id);
    expect(await used()).toBe(0);
    expect((await call('GET', '/org/entitlements')).json()).toMatchObject({
      plan: { id: 'ENTERPRISE', effective_id: 'ENTERPRISE', is_trialing: false },
      features: {
        managed_auth: { enabled: true, health_check_interval_min_seconds: 300, max_connections: null },
        gpu: { enabled: false },
        browser_replays: { enabled: true, retention_days: 7 },
      },
      limits: { max_vaults: 0 },
      min_health_check_interval_seconds: 300,
    });
  });

  it('hold for concurrent invocations of a project', async () => {
    const { store } = fixture();
    const { id: projectId } = await kernel.projects.create({ name: 'invoking' });
    const scope = { organizationId: 'org_default', projectId };
    const program = { entrypoint: 'index.mjs', envVars: {}, version: 'latest', force: false, archive: Buffer.of(1) };
    const { id: deployment } = await store.deployments.create(scope, program);
    await store.deployments.begin(deployment);
    await store.deployments.finish(deployment, [{ name: 'app', actions: [{ name: 'run' }] }]);
    const wanted = { appName: 'app', version: 'latest', actionName: 'run', payload: null, retries: 0 };
    const invoke = () => store.invocations.create(scope, { ...wanted, timeoutSeconds: 60 });
    await invoke();
    expect(await kernel.projects.limits.update(projectId, { max_concurrent_invocations: 3 })).toMatchObject({
      max_concurrent_invocations: 3,
      max_concurrent_sessions: null,
    });
    const made = await Promise.allSettled(Array.from({ length: 6 }, invoke));
    const begun = made.flatMap((each) => (each.status === 'fulfilled' ? [each.value.id] : []));
    expect(begun).toHaveLength(2);
    const refused = fetch(`${service.url()}/invocations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${API_KEY}`,
        'x-kernel-project-id': projectId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ app_name: 'app', action_name: 'run' }),
    });
    expect((await refused).status).toBe(529);
    expect(await (await refused).text()).toContain(
      'The project has reached its limit of 3 running invocations; end one',
    );
    await store.invocations.end(begun[0] ?? '', 'failed', {});
    await invoke();
    await kernel.projects.limits.update(projectId, { max_concurrent_invocations: 0 });
    await invoke();
  });

  it("cannot be set by a project's key, or where they would not be enforced", async () => {
    await expect(bound.organization.limits.update({})).rejects.toMatchObject({ status: 403 });
    await expect(bound.projects.limits.update('prj_default', {})).rejects.toMatchObject({ status: 403 });
    const pooled = await fixture().call('PATCH', '/org/projects/prj_default/limits', { max_pooled_sessions: 3 });
    expect([pooled.statusCode, pooled.body]).toEqual([400, expect.stringContaining('max_pooled_sessions')]);
  });
});
