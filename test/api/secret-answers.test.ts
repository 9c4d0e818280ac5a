import { expect, it, vi } from 'vitest';
import { useService } from './service-fixture.ts';

const fixture = useService();

/** Members of answers by which more can be done than reading. */
const SECRET_MEMBERS = new Set([
  'cdp_ws_url',
  'webdriver_ws_url',
  'browser_live_view_url',
  'live_view_url',
  'replay_view_url',
  'hosted_url',
  'handoff_code',
  'jwt',
  'key',
  'secret',
  'token',
  'code',
]);
/** Answers without a schema that hold what somebody is logged in by. */
const SECRET_BODIES = ['GET /profiles/:id_or_name/download'];
/** What is called like a secret and is none. */
const HARMLESS = new Set([
  'POST /audit-logs/export/destinations/:id/test',
  'POST /browsers/:id/computer/get_focused_control',
]);

it('wait for their audit row if they can contain a secret', async () => {
  const { app } = fixture();
  const { paths } = (await app.inject('/openapi.json')).json<{
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  }>();
  const bearing = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const answers = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const names = membersOf(answers).filter((name) => SECRET_MEMBERS.has(name));
      return names.length === 0 ? [] : [`${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`];
    }),
  );
  expect(bearing.length).toBeGreaterThan(10);
  const missing = [...bearing, ...SECRET_BODIES].filter(
    (route) => !app.secretRoutes.has(route) && !HARMLESS.has(route),
  );
  expect(missing).toEqual([]);
});

it('of connections wait for their row while a login is open, and otherwise contain no link', async () => {
  const { call, store } = fixture();
  const body = { domain: 'linked.example', profile_name: 'ann' };
  const { id } = (await call('POST', '/auth/connections', body)).json<{ id: string }>();
  await call('POST', `/auth/connections/${id}/login`);
  const fault = vi.spyOn(store.auditLog, 'append').mockRejectedValue(new Error('disk full'));
  const withLink = await call('GET', `/auth/connections/${id}`);
  const timeline = await call('GET', `/auth/connections/${id}/timeline`);
  fault.mockRestore();
  expect([withLink.statusCode, timeline.statusCode]).toEqual([500, 200]);
  expect(withLink.body).not.toContain('code=');
  expect((await call('GET', `/auth/connections/${id}`)).body).toContain('?code=');
});

/** Names of all members that a schema speaks of. */
function membersOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries<unknown>({ ...schema }).flatMap(([name, value]) => [
    ...(name === 'properties' && typeof value === 'object' && value !== null ? Object.keys(value) : []),
    ...membersOf(value),
  ]);
}
