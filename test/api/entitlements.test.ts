import { beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../api/service.ts';
import type { ApiServer } from '../../api/context.ts';
import type { Plan } from '../../contract/limits.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const DESTINATION = {
  type: 's3',
  format: 'jsonl.gz',
  region: 'eu-west-1',
  bucket: 'bucket',
  prefix: '',
  role_arn: 'arn:aws:iam::123456789012:role/x',
};

/** What the same installation answers on another plan. */
async function onPlan(
  plan: Plan,
): Promise<(method: 'GET' | 'POST' | 'PATCH', url: string, body?: object) => Promise<Answer>> {
  const { deps } = fixture();
  const app: ApiServer = await createApi({ ...deps, settings: { ...deps.settings, plan } });
  return async (method, url, body) => {
    const options = { method, url, headers: { authorization: `Bearer ${API_KEY}` } };
    const answer = await app.inject(body === undefined ? options : { ...options, payload: body });
    return { status: answer.statusCode, body: answer.json<Record<string, unknown>>() };
  };
}
interface Answer {
  status: number;
  body: Record<string, unknown>;
}

describe('disabled projects', () => {
  let bound: string;
  let project: string;
  beforeAll(async () => {
    const { call } = fixture();
    project = (await call('POST', '/org/projects', { name: 'second' })).json<{ id: string }>().id;
    bound = (await call('POST', '/org/api_keys', { name: 'k', project_id: project })).json<{ key: string }>().key;
  });

  it('cannot be disabled while a second project is active', async () => {
    const { call } = fixture();
    const refused = await call('PATCH', '/org/entitlements', { projects: false });
    expect([refused.statusCode, refused.json<{ code: string }>().code]).toEqual([422, 'operation_failed']);
    expect((await call('GET', '/org/entitlements')).json()).toMatchObject({ projects: true });
  });

  it('respond projects_disabled to every operation and header, while everything else works', async () => {
    const { call, app, store } = fixture();
    await call('PATCH', `/org/projects/${project}`, { status: 'archived' });
    expect((await call('PATCH', '/org/entitlements', { projects: false })).json()).toMatchObject({ projects: false });
    expect((await call('GET', '/org/entitlements')).json()).toMatchObject({
      projects: false,
      plan: { id: 'ENTERPRISE' },
    });

    const operations: [Parameters<typeof call>[0], string, object?][] = [
      ['GET', '/org/projects'],
      ['POST', '/org/projects', { name: 'third' }],
      ['GET', `/org/projects/${project}`],
      ['PATCH', `/org/projects/${project}`, { status: 'active' }],
      ['DELETE', `/org/projects/${project}`],
      ['GET', '/org/projects/prj_default/limits'],
      ['PATCH', '/org/projects/prj_default/limits', { max_concurrent_sessions: 2 }],
      ['GET', '/projects'],
      ['POST', '/org/api_keys', { name: 'k', project_id: 'prj_default' }],
    ];
    for (const [method, url, body] of operations) {
      const answer = await call(method, url, body);
      expect([method, url, answer.statusCode, answer.json<{ code: string }>().code]).toEqual([
        method,
        url,
        404,
        'projects_disabled',
      ]);
    }
    for (const name of ['x-kernel-project-id', 'x-kernel-project'])
      expect((await call('GET', '/profiles', undefined, { [name]: 'prj_default' })).json()).toMatchObject({
        code: 'projects_disabled',
      });
    // What names no project goes to the one there is.
    const made = await call('POST', '/profiles', { name: 'of the only project' });
    expect(made.statusCode).toBe(201);
    expect((await call('POST', '/org/api_keys', { name: 'wide' })).statusCode).toBe(201);
    // A key of one project does not come to reach more: that of the archived one still reaches nothing.
    const asBound = await app.inject({ url: '/profiles', headers: { authorization: `Bearer ${bound}` } });
    expect([asBound.statusCode, asBound.json<{ code: string }>().code]).toEqual([404, 'not_found']);
    // Whoever was just making one has it refused by the store, too.
    await expect(store.projects.create('org_default', { name: 'late' })).rejects.toMatchObject({
      code: 'projects_disabled',
    });
    await expect(store.projects.update('org_default', project, { isArchived: false })).rejects.toMatchObject({
      code: 'projects_disabled',
    });
    // The next start of the installation finds its default project as it is.
    await store.bootstrap({ plan: 'enterprise', apiKey: API_KEY });
  });

  it('are available again once enabled', async () => {
    const { call, app } = fixture();
    expect((await call('PATCH', '/org/entitlements', { projects: true })).json()).toMatchObject({ projects: true });
    expect((await call('PATCH', `/org/projects/${project}`, { status: 'active' })).statusCode).toBe(200);
    const asBound = await app.inject({ url: '/profiles', headers: { authorization: `Bearer ${bound}` } });
    expect([asBound.statusCode, asBound.json()]).toEqual([200, []]);
  });

  it('can be switched only by organization-wide keys', async () => {
    const { app } = fixture();
    const options = { method: 'PATCH', url: '/org/entitlements', payload: { projects: false } } as const;
    const answer = await app.inject({ ...options, headers: { authorization: `Bearer ${bound}` } });
    expect(answer.statusCode).toBe(403);
  });
});

describe('a plan', () => {
  it('shows its features, and rejects others', async () => {
    const free = await onPlan('free');
    const { features, limits, ...rest } = (await free('GET', '/org/entitlements')).body;
    expect(features).toMatchObject({
      managed_auth: { health_check_interval_default_seconds: 21_600, health_check_interval_max_seconds: 86_400 },
      vaults: { enabled: false },
    });
    expect(limits).toMatchObject({ max_vaults: 0 });
    expect(rest).toEqual({
      plan: { id: 'FREE', effective_id: 'FREE', is_trialing: false, status: null, trial_ends_at: null },
      min_health_check_interval_seconds: 21_600,
      max_auth_connections: null,
      projects: false,
      audit_log_exports: false,
    });
    expect(await free('GET', '/org/projects')).toMatchObject({ status: 404, body: { code: 'projects_disabled' } });
    expect(await free('PATCH', '/org/entitlements', { projects: true })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_plan' },
    });
    expect(await free('POST', '/audit-logs/export/destinations', DESTINATION)).toMatchObject({
      status: 403,
      body: { code: 'insufficient_plan' },
    });
    const interval = { domain: 'often.example', profile_name: 'often', health_check_interval: 300 };
    expect(await free('POST', '/auth/connections', interval)).toMatchObject({ status: 400 });

    const startup = await onPlan('startup');
    expect((await startup('GET', '/org/entitlements')).body).toMatchObject({
      projects: true,
      audit_log_exports: false,
    });
    expect((await startup('GET', '/org/projects')).status).toBe(200);
  });

  it('lets a destination from a larger plan run and pause, but not resume', async () => {
    const { call } = fixture();
    const { id } = (await call('POST', '/audit-logs/export/destinations', DESTINATION)).json<{ id: string }>();
    const startup = await onPlan('startup');
    const url = `/audit-logs/export/destinations/${id}`;
    expect(await startup('GET', url)).toMatchObject({ status: 200, body: { status: 'active' } });
    expect(await startup('PATCH', url, { status: 'paused' })).toMatchObject({ status: 200 });
    expect(await startup('PATCH', url, { status: 'active' })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_plan' },
    });
    expect((await call('PATCH', url, { status: 'active' })).statusCode).toBe(200);
  });
});

describe('a limit on connections', () => {
  it('holds under concurrent creation', async () => {
    const { call } = fixture();
    const setMax = async (limit: number | null) =>
      (await call('PATCH', '/org/limits', { max_auth_connections: limit })).json<{ max_auth_connections: unknown }>();
    const create = (domain: string) => call('POST', '/auth/connections', { domain, profile_name: 'bounded' });
    expect(await setMax(3)).toMatchObject({ max_auth_connections: 3, auth_connections_used: 0 });
    expect((await call('GET', '/org/entitlements')).json()).toMatchObject({ max_auth_connections: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`site-${index}.example`)));
    const refused = answers.filter(({ statusCode }) => statusCode !== 201);
    expect(refused).toHaveLength(5);
    for (const answer of refused)
      expect(answer.json()).toMatchObject({
        code: 'limit_reached',
        message: expect.stringContaining('The organization has reached its limit of 3 connections') as unknown,
      });
    expect(new Set(refused.map(({ statusCode }) => statusCode))).toEqual(new Set([403]));

    // The one that is there is still told of, and room is made by a deletion or a larger bound.
    const [first] = answers.flatMap((answer, index) => (answer.statusCode === 201 ? [{ answer, index }] : []));
    expect((await create(`site-${first?.index}.example`)).statusCode).toBe(409);
    await call('DELETE', `/auth/connections/${first?.answer.json<{ id: string }>().id}`);
    expect((await create('after-a-deletion.example')).statusCode).toBe(201);
    expect((await create('one-more.example')).statusCode).toBe(403);
    expect(await setMax(null)).toMatchObject({ max_auth_connections: null, auth_connections_used: 3 });
    expect((await create('one-more.example')).statusCode).toBe(201);
    expect(await setMax(1)).toMatchObject({ max_auth_connections: 1, auth_connections_used: 4 });
    expect((await create('none-more.example')).statusCode).toBe(403);
    expect(await setMax(0)).toMatchObject({ max_auth_connections: null });
  });
});
