import { expect, test } from 'vitest';
import { ConnectionSummary } from '../../contract/connection-summary.ts';
import { loginInteraction } from './fake-connections.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

async function create(domain: string): Promise<string> {
  const created = await fixture().call('POST', '/auth/connections', { domain, profile_name: 'ann' });
  return created.json<{ id: string }>().id;
}

test('the summary counts states, reasons, sites, hours and durations, and each count matches a list', async () => {
  const { call, connections } = fixture();
  const [healthy, expired, waiting] = await Promise.all([
    create('a.example'),
    create('b.example'),
    create('c.example'),
  ]);
  const at = new Date();
  const timestamp = at.toISOString();
  const end = new Date(at.getTime() + 4000).toISOString();
  await connections.change(
    healthy,
    { status: 'AUTHENTICATED', can_reauth: true, can_reauth_reason: 'has_credential' },
    [
      { id: 'evt_1', type: 'login', status: 'SUCCESS', timestamp, updated_at: end },
      { id: 'evt_2', type: 'health_check', status: 'AUTHENTICATED', timestamp },
      // What a page says may hold what Postgres refuses to read.
      { id: 'evt_3', type: 'reauth', status: 'FAILED', timestamp, website_error: 'odd \0 \ud800 \\u0000' },
    ],
  );
  await call('POST', `/auth/connections/${waiting}/login`);
  await connections.moveFlow(waiting, { flow_step: 'AWAITING_INPUT', interaction: loginInteraction() });

  const summary = ConnectionSummary.parse((await call('GET', '/auth/connections/summary')).json());
  expect(summary).toMatchObject({ total: 3, authenticated: 1, will_log_in: 0, needs_person: 2, waiting: 1 });
  expect(summary.reasons).toEqual([{ reason: 'no_prior_successful_login', count: 2 }]);
  expect(summary.domains).toEqual([
    { domain: 'b.example', count: 1 },
    { domain: 'c.example', count: 1 },
  ]);
  expect(summary.activity).toEqual([expect.objectContaining({ checks: 1, expired: 0, logins: 1, failed_logins: 1 })]);
  expect(summary.slowest).toEqual([{ domain: 'a.example', seconds: 4, logins: 1 }]);

  const listed = async (query: string) =>
    (await call('GET', `/auth/connections?${query}`)).json<{ id: string }[]>().map(({ id }) => id);
  expect(await listed('status=AUTHENTICATED')).toEqual([healthy]);
  expect((await listed('status=NEEDS_AUTH&can_reauth=false')).toSorted()).toEqual([expired, waiting].toSorted());
  expect(await listed('can_reauth_reason=requires_sms_code')).toEqual([]);
  expect(await listed('waiting=true')).toEqual([waiting]);
  // A login that has run out waits for nobody.
  fixture().shiftClock(30 * 60_000);
  expect(await listed('waiting=true')).toEqual([]);
  expect((await call('GET', '/auth/connections/summary?hours=169')).statusCode).toBe(400);
});
