import { describe, expect, it } from 'vitest';
import { useService } from './service-fixture.ts';

const fixture = useService();

interface Shown {
  id: string;
  secret: string;
}

describe('webhooks', () => {
  it('are created, read, listed, updated and deleted, and show a secret only when it is created', async () => {
    const { call, store } = fixture();
    const made = await call('POST', '/webhooks', { url: 'https://hooks.example/a', events: ['connection.needs_auth'] });
    expect(made.statusCode).toBe(201);
    const { id, secret, ...rest } = made.json<Shown>();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rest).toMatchObject({ status: 'active', events: ['connection.needs_auth'], url: 'https://hooks.example/a' });
    expect((await call('GET', `/webhooks/${id}`)).json()).toEqual({ id, ...rest });
    expect((await call('GET', '/webhooks')).json()).toEqual([{ id, ...rest }]);
    const rotated = (await call('POST', `/webhooks/${id}/rotate_secret`)).json<Shown>();
    expect(rotated.secret).not.toBe(secret);
    expect(rotated).toHaveProperty('former_secret_until');
    const paused = await call('PATCH', `/webhooks/${id}`, { status: 'paused', description: 'ours' });
    expect(paused.json()).toMatchObject({ status: 'paused', paused_reason: 'requested', description: 'ours' });
    const resumed = await call('PATCH', `/webhooks/${id}`, { status: 'active' });
    expect(resumed.json()).not.toHaveProperty('paused_reason');
    for (const { body } of [paused, resumed]) expect(body).not.toContain('whsec_');
    const audited = await store.auditLog.page({ organizationId: 'org_default', projectId: null }, { limit: 50 });
    expect(audited.rows.map(({ method, route }) => `${method} ${route}`)).toEqual(
      expect.arrayContaining(['POST /webhooks', 'POST /webhooks/:id/rotate_secret', 'PATCH /webhooks/:id']),
    );
    expect((await call('DELETE', `/webhooks/${id}`)).statusCode).toBe(204);
    expect((await call('GET', `/webhooks/${id}`)).statusCode).toBe(404);
  });

  it.each([
    ['url', { url: 'http://hooks.example/' }],
    ['url', { url: 'https://10.0.0.1/' }],
    ['url', { url: 'https://localhost/' }],
    ['events', { events: [] }],
    ['events.0', { events: ['connection.nothing'] }],
    ['secret', { secret: 'whsec_mine' }],
  ])('with a wrong %s are refused', async (field, change) => {
    const { call } = fixture();
    const answer = await call('POST', '/webhooks', { url: 'https://hooks.example/wrong', ...change });
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain(field);
  });

  it('are unique per URL of a project, and belong to that project', async () => {
    const { call, store } = fixture();
    const project = await store.projects.create('org_default', { name: 'Other' });
    const other = { 'x-kernel-project-id': project.id };
    const body = { url: 'https://hooks.example/once' };
    const { id } = (await call('POST', '/webhooks', body)).json<Shown>();
    const twin = await call('POST', '/webhooks', body);
    expect([twin.statusCode, twin.json<{ code: string }>().code]).toEqual([409, 'already_exists']);
    expect((await call('POST', '/webhooks', body, other)).statusCode).toBe(201);
    const sent = (await call('POST', `/webhooks/${id}/test`)).json<{ id: string }>();
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotate_secret'],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/${sent.id}/redeliver`],
    ] as const)
      expect(
        (await call(method, `/webhooks/${id}${path}`, method === 'PATCH' ? {} : undefined, other)).statusCode,
      ).toBe(404);
    const listed = (await call('GET', `/webhooks/${id}/deliveries`)).json<object[]>();
    expect(listed).toEqual([expect.objectContaining({ id: sent.id, event_type: 'webhook.test', status: 'pending' })]);
    expect((await call('POST', `/webhooks/${id}/deliveries/${sent.id}/redeliver`)).statusCode).toBe(202);
    expect((await call('POST', `/webhooks/${id}/deliveries/dlv_other/redeliver`)).statusCode).toBe(404);
  });
});
