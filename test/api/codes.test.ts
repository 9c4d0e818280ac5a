import { describe, expect, it, vi } from 'vitest';
import { createCodeInbox } from '../../codes/inbox.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

describe('codes sent to a connection', () => {
  it('are rejected without a login in progress, without a code, and for another project', async () => {
    const { call, store } = fixture();
    const made = await call('POST', '/auth/connections', {
      domain: 'codes.example',
      profile_name: 'ann',
      codes: { phone_number: '+1 (555) 010-9999', email_address: 'Ann@Codes.example', api: ['sms'] },
    });
    const { id, codes } = made.json<{ id: string; codes: object }>();
    expect(codes).toEqual({ phone_number: '+15550109999', email_address: 'ann@codes.example', api: ['sms'] });
    const url = `/auth/connections/${id}/codes`;
    const idle = await call('POST', url, { code: '123456' });
    expect([idle.statusCode, idle.json<{ code: string }>().code]).toEqual([422, 'not_awaiting_input']);
    expect((await call('POST', url, { text: 'nothing in here' })).statusCode).toBe(400);
    expect((await call('POST', url, { text: 'Code 123456', code: '1' })).statusCode).toBe(400);
    const other = await store.projects.create('org_default', { name: 'Elsewhere' });
    expect((await call('POST', url, { code: '1' }, { 'x-kernel-project-id': other.id })).statusCode).toBe(404);
    expect((await call('PATCH', `/auth/connections/${id}`, { codes: null })).json()).not.toHaveProperty('codes');
    for (const phone of ['5550109999', '+0', 'x'])
      expect((await call('PATCH', `/auth/connections/${id}`, { codes: { phone_number: phone } })).statusCode).toBe(400);
  });

  it('are sealed until their step, where the newest is used once', async () => {
    const { call, store, connections, deps } = fixture();
    const made = await call('POST', '/auth/connections', { domain: 'waits.example', profile_name: 'ann' });
    const { id } = made.json<{ id: string }>();
    await call('POST', `/auth/connections/${id}/login`);
    const give = (text: string) => call('POST', `/auth/connections/${id}/codes`, { text });
    expect((await give('Your code is 111111')).statusCode).toBe(202);
    expect((await give('Your code is 222222')).statusCode).toBe(202);
    const submit = vi.spyOn(connections, 'submit');
    const interaction = {
      interaction_id: 'int_code',
      fields: [{ id: 'code', ref: 'code', type: 'code' as const, reason: 'missing' as const }],
      choices: [],
      discovered_fields: [],
      mfa_options: [],
      pending_sso_buttons: [],
      sign_in_options: [],
    };
    await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction });
    await createCodeInbox(deps).deliverAll();
    await createCodeInbox(deps).deliverAll();
    expect(submit).toHaveBeenCalledTimes(1);
    const submitted = submit.mock.calls[0]?.[1];
    expect(submitted).toMatchObject({ interactionId: 'int_code', fieldIds: ['code'] });
    expect(await store.submissions.open(submitted?.submissionId ?? '')).toMatchObject({ values: { code: '222222' } });
    expect(await store.submissions.connectionsWithPending('codes:')).toEqual([]);
  });

  it('may be a sign-in link, which is opened if no code is requested and keeps a pending code', async () => {
    const { call, store, connections, deps } = fixture();
    const made = await call('POST', '/auth/connections', { domain: 'links.example', profile_name: 'ann' });
    const { id } = made.json<{ id: string }>();
    await call('POST', `/auth/connections/${id}/login`);
    const give = async (text: string) => (await call('POST', `/auth/connections/${id}/codes`, { text })).statusCode;
    const link = 'https://app.links.example/magic?token=k3J9xQ2pLm8Zt71vW';
    expect(await give(`Sign in: ${link.replace('links.example', 'other.example')}`)).toBe(400);
    expect(await give('Your code is 111111')).toBe(202);
    expect(await give(`Sign in: ${link}`)).toBe(202);
    const submit = vi.spyOn(connections, 'submit');
    const none = { choices: [], discovered_fields: [], mfa_options: [], pending_sso_buttons: [], sign_in_options: [] };
    const waits = { ...none, fields: [], interaction_id: 'int_push' };
    await connections.moveFlow(id, { flow_step: 'AWAITING_EXTERNAL_ACTION', interaction: waits });
    await createCodeInbox(deps).deliverAll();
    expect(submit).not.toHaveBeenCalled();
    const takes = { ...waits, interaction_id: 'int_link', takes_link: true as const, pictures: { f: 'data:' } };
    await connections.moveFlow(id, { flow_step: 'AWAITING_EXTERNAL_ACTION', interaction: takes });
    // No caller sees that a link answers it, and none can give one.
    expect(JSON.stringify((await call('GET', `/auth/connections/${id}`)).json())).not.toMatch(/takes_link|pictures/);
    const own = await call('POST', `/auth/connections/${id}/submit`, { field_values: { mailed_link: link } });
    expect(own.statusCode).toBe(400);
    await createCodeInbox(deps).deliverAll();
    await createCodeInbox(deps).deliverAll();
    expect(submit).toHaveBeenCalledTimes(1);
    const submitted = submit.mock.calls[0]?.[1];
    expect(submitted).toMatchObject({ interactionId: 'int_link', fieldIds: ['mailed_link'] });
    expect((await store.submissions.open(submitted?.submissionId ?? ''))?.values).toEqual({ mailed_link: link });
  });

  it('are accepted from a code token, for its own connection, until it expires', async () => {
    const { app, call, shiftClock } = fixture();
    const connect = async (domain: string) =>
      (await call('POST', '/auth/connections', { domain, profile_name: 'ann' })).json<{ id: string }>().id;
    const [id, other] = [await connect('token.example'), await connect('another.example')];
    const made = await call('POST', `/auth/connections/${id}/codes/tokens`, { days_to_expire: 2 });
    const { token, expires_at: expiresAt } = made.json<{ token: string; expires_at: string }>();
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 47 * 3_600_000);
    const status = async (method: 'GET' | 'POST', url: string, payload?: object) =>
      (await app.inject({ method, url, headers: { authorization: `Bearer ${token}` }, ...(payload && { payload }) }))
        .statusCode;
    const code = { code: '123456' };
    expect(await status('POST', `/auth/connections/${id}/codes`, code)).toBe(422);
    await call('POST', `/auth/connections/${id}/login`);
    expect(await status('POST', `/auth/connections/${id}/codes`, code)).toBe(202);
    expect(await status('POST', `/auth/connections/${other}/codes`, code)).toBe(403);
    for (const path of ['', '/events', '/timeline'])
      expect(await status('GET', `/auth/connections/${id}${path}`)).toBe(403);
    for (const path of ['/submit', '/login', '/codes/tokens'])
      expect(await status('POST', `/auth/connections/${id}${path}`, {})).toBe(403);
    shiftClock(48 * 3_600_000 + 1000);
    expect(await status('POST', `/auth/connections/${id}/codes`, code)).toBe(401);
    shiftClock(0);
  });
});
