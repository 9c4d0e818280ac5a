import { describe, expect, it, vi } from 'vitest';
import { loginInteraction } from './fake-connections.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

/** A connection whose flow waits for a user and a password. */
async function waiting(domain: string) {
  const { call, connections } = fixture();
  const { id } = (await call('POST', '/auth/connections', { domain, profile_name: 'ann' })).json<{ id: string }>();
  const login = (await call('POST', `/auth/connections/${id}/login`)).json<{ handoff_code: string }>();
  const interaction = loginInteraction();
  await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction });
  return { id, code: login.handoff_code, interactionId: interaction.interaction_id, url: `/auth/connections/${id}` };
}

const VALUES = { fld_user: 'ann@example.com', fld_pass: 'correct horse' };

describe('submit', () => {
  it.each([
    ['field_values', { field_values: VALUES }, VALUES, null],
    ['field_values and a choice', { field_values: VALUES, selected_choice_id: 'ch_sms' }, VALUES, 'ch_sms'],
    ['selected_choice_id', { selected_choice_id: 'ch_github' }, null, 'ch_github'],
    ['an empty map beside it', { selected_choice_id: 'ch_sms', field_values: {}, fields: {} }, null, 'ch_sms'],
    ['fields', { fields: { email: 'ann@example.com', pw: 'correct horse' } }, VALUES, null],
    ['mfa_option_id', { mfa_option_id: 'sms' }, null, 'ch_sms'],
    ['sign_in_option_id', { sign_in_option_id: 'ch_account' }, null, 'ch_account'],
    ['sso_button_selector', { sso_button_selector: '//button[2]' }, null, 'ch_github'],
    ['sso_provider', { sso_provider: 'google' }, null, 'ch_google'],
  ])('takes %s', async (name, body, values, choice) => {
    const { call, connections, store } = fixture();
    const { url, interactionId } = await waiting(`submit-${name.replaceAll(/\W/g, '-')}.example`);
    const submit = vi.spyOn(connections, 'submit');
    const isOlder = !('field_values' in body) && !('selected_choice_id' in body);
    const response = await call('POST', `${url}/submit`, isOlder ? body : { ...body, interaction_id: interactionId });
    const sent = submit.mock.calls.map(([, input]) => input);
    submit.mockRestore();
    expect([response.statusCode, response.json()]).toEqual([202, { accepted: true }]);
    expect(sent).toMatchObject([{ interactionId, selectedChoiceId: choice, fieldIds: Object.keys(values ?? {}) }]);
    // Values are sealed under the submission that the message names; a choice alone leaves none behind.
    const opened = sent[0]?.submissionId ? await store.submissions.open(sent[0].submissionId) : null;
    expect(opened?.values ?? null).toEqual(values);
    expect(JSON.stringify(sent)).not.toContain('horse');
    expect((await call('GET', url)).json()).toMatchObject({ flow_step: 'SUBMITTING', interaction_id: null });
  });

  it.each([
    [{}, 'invalid_input'],
    [{ field_values: {} }, 'invalid_input'],
    [{ field_values: VALUES }, 'invalid_input'],
    [{ selected_choice_id: 'ch_sms' }, 'invalid_input'],
    [{ fields: { email: 'a', pw: 'b' }, mfa_option_id: 'sms' }, 'invalid_input'],
    [{ sso_provider: 'google', sso_button_selector: '//button[1]' }, 'invalid_input'],
    [{ interaction_id: 'int_other', field_values: VALUES }, 'stale_interaction'],
    [{ interaction_id: 'now', field_values: { ...VALUES, fld_x: 'y' } }, 'unknown_field'],
    [{ interaction_id: 'now', field_values: { fld_user: 'ann' } }, 'missing_field'],
    [{ interaction_id: 'now', field_values: { ...VALUES, fld_pass: '' } }, 'missing_field'],
    [{ interaction_id: 'now', selected_choice_id: 'ch_x' }, 'unknown_choice'],
    [{ fields: { email: 'a', password: 'b' } }, 'unknown_field'],
    [{ fields: { email: 'a' } }, 'missing_field'],
    [{ mfa_option_id: 'push' }, 'unknown_choice'],
    [{ sign_in_option_id: 'ch_google' }, 'unknown_choice'],
    [{ sso_button_selector: '//button[3]' }, 'unknown_choice'],
    [{ sso_provider: 'myspace' }, 'unknown_choice'],
    [{ interaction_id: 'now', field_values: { fld_user: 1 } }, 'invalid_input'],
  ])('refuses %j as %s, and nothing reaches the workflow', async (body, code) => {
    const { call, connections } = fixture();
    const { url, interactionId } = await waiting(`refuse-${Math.random().toString(36).slice(2)}.example`);
    const before = connections.calls.submit;
    const sent =
      'interaction_id' in body && body.interaction_id === 'now' ? { ...body, interaction_id: interactionId } : body;
    const response = await call('POST', `${url}/submit`, sent);
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([400, code]);
    expect(connections.calls.submit).toBe(before);
    expect((await call('GET', url)).json()).toMatchObject({ flow_step: 'AWAITING_INPUT' });
  });

  it('responds 422 when no interaction is pending', async () => {
    const { call } = fixture();
    const { id } = (await call('POST', '/auth/connections', { domain: 'idle.example', profile_name: 'ann' })).json<{
      id: string;
    }>();
    const response = await call('POST', `/auth/connections/${id}/submit`, { fields: { email: 'a' } });
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([422, 'not_awaiting_input']);
  });

  it('accepts a repeated answer, even after the flow advanced, and types it once', async () => {
    const { call, connections } = fixture();
    for (const body of [{ field_values: VALUES }, { selected_choice_id: 'ch_sms' }, { sso_provider: 'google' }]) {
      const { id, url, interactionId } = await waiting(`twice-${Math.random().toString(36).slice(2)}.example`);
      const sent = 'sso_provider' in body ? body : { ...body, interaction_id: interactionId };
      const before = connections.calls.applied;
      expect((await call('POST', `${url}/submit`, sent)).statusCode).toBe(202);
      expect((await call('POST', `${url}/submit`, sent)).statusCode).toBe(202);
      if (!('sso_provider' in body)) {
        await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction: loginInteraction() });
        expect((await call('POST', `${url}/submit`, sent)).statusCode).toBe(202);
      }
      expect(connections.calls.applied).toBe(before + 1);
    }
  });

  it('rejects a rejected answer again', async () => {
    const { call } = fixture();
    const { url } = await waiting('refused-twice.example');
    const body = { interaction_id: 'int_other', field_values: VALUES };
    expect((await call('POST', `${url}/submit`, body)).statusCode).toBe(400);
    expect((await call('POST', `${url}/submit`, body)).statusCode).toBe(400);
  });

  it('applies one of a hundred concurrent answers', async () => {
    const { call, connections } = fixture();
    const { url, interactionId } = await waiting('hundred.example');
    const before = connections.calls.applied;
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        call('POST', `${url}/submit`, {
          interaction_id: interactionId,
          field_values: { fld_user: `user ${index}`, fld_pass: 'x' },
        }),
      ),
    );
    const codes = responses.map(({ statusCode }) => statusCode);
    expect(codes.filter((code) => code === 202)).toHaveLength(1);
    expect(codes.filter((code) => code !== 202 && code !== 400 && code !== 422)).toEqual([]);
    expect(connections.calls.applied).toBe(before + 1);
  });

  it('reports that no worker responds, and keeps the values for the retry', async () => {
    const { call, connections } = fixture();
    const { HoldfastError } = await import('../../contract/errors.ts');
    const { url, interactionId } = await waiting('worker.example');
    const body = { interaction_id: interactionId, field_values: VALUES };
    connections.failWith = new HoldfastError('unavailable', 'No worker answers.');
    const refused = await call('POST', `${url}/submit`, body);
    connections.failWith = null;
    expect(refused.statusCode).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await call('POST', `${url}/submit`, body)).statusCode).toBe(202);
  });
});

describe('handoff codes and hosted page tokens', () => {
  it('are exchanged once under concurrent calls', async () => {
    const { app } = fixture();
    const { url, code } = await waiting('exchange.example');
    const exchange = () => app.inject({ method: 'POST', url: `${url}/exchange`, payload: { code } });
    const codes = (await Promise.all(Array.from({ length: 50 }, exchange))).map(({ statusCode }) => statusCode);
    expect(codes.filter((status) => status === 200)).toHaveLength(1);
    expect(codes.filter((status) => status === 410)).toHaveLength(49);
  });

  it('are rejected if unknown, expired, for another connection, or for an ended flow', async () => {
    const { app, call, connections, shiftClock } = fixture();
    const one = await waiting('handoff-1.example');
    const two = await waiting('handoff-2.example');
    const exchange = async (url: string, body: object) =>
      (await app.inject({ method: 'POST', url: `${url}/exchange`, payload: body })).statusCode;
    expect(await exchange(one.url, { code: two.code })).toBe(404);
    const tampered = `${one.code.slice(0, -2)}${one.code.at(-2) === 'A' ? 'B' : 'A'}${one.code.slice(-1)}`;
    expect(await exchange(one.url, { code: tampered })).toBe(404);
    expect(await exchange(one.url, { code: `${one.code}=` })).toBe(404);
    expect(await exchange(one.url, { code: 'x' })).toBe(404);
    expect(await exchange('/auth/connections/conn_none', { code: one.code })).toBe(404);
    expect(await exchange(one.url, {})).toBe(400);
    shiftClock(5 * 60_000 + 1000);
    expect(await exchange(one.url, { code: one.code })).toBe(410);
    shiftClock(0);
    await connections.moveFlow(two.id, { flow_status: 'SUCCESS', flow_step: 'COMPLETED', interaction: null });
    expect(await exchange(two.url, { code: two.code })).toBe(410);
    expect((await call('GET', two.url)).json()).toMatchObject({ hosted_url: null });
  });

  it('may only read, follow and submit to their own connection', async () => {
    const { app, call, connections, shiftClock } = fixture();
    const mine = await waiting('token-1.example');
    const other = await waiting('token-2.example');
    const { jwt } = (
      await app.inject({ method: 'POST', url: `${mine.url}/exchange`, payload: { code: mine.code } })
    ).json<{ jwt: string; invocation_id: string }>();
    const as = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${jwt}` },
        ...(payload === undefined ? {} : { payload }),
      });
    expect((await as('GET', mine.url)).json()).toMatchObject({
      flow_step: 'AWAITING_INPUT',
      hosted_url: null,
      live_view_url: null,
      browser_session_id: null,
    });
    for (const [method, url] of [
      ['GET', other.url],
      ['GET', `${other.url}/events`],
      ['POST', `${other.url}/submit`],
      ['GET', '/auth/connections'],
      ['GET', '/auth/context'],
      ['PATCH', mine.url],
      ['DELETE', mine.url],
      ['POST', `${mine.url}/login`],
      ['POST', `${mine.url}/check`],
      ['GET', `${mine.url}/timeline`],
      ['GET', '/credentials'],
      ['GET', '/browsers'],
    ] as const) {
      const refused = await as(method, url, method === 'GET' ? undefined : { fields: { email: 'a' } });
      expect([url, refused.statusCode]).toEqual([url, 403]);
    }
    const body = { interaction_id: mine.interactionId, field_values: VALUES };
    expect((await as('POST', `${mine.url}/submit`, body)).statusCode).toBe(202);
    await connections.moveFlow(mine.id, { flow_status: 'SUCCESS', flow_step: 'COMPLETED' });
    expect((await as('GET', mine.url)).json()).toMatchObject({ flow_status: 'SUCCESS' });
    expect((await as('POST', `${mine.url}/submit`, body)).statusCode).toBe(410);
    await call('POST', `${mine.url}/login`);
    expect((await as('GET', mine.url)).statusCode).toBe(410);
    shiftClock(31 * 60_000);
    expect((await as('GET', mine.url)).statusCode).toBe(401);
    shiftClock(0);
    const [head = '', claims = ''] = jwt.split('.');
    const unsigned = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${claims}.`;
    for (const forged of [unsigned, `${head}.${claims}.AAAA`, `${head}.${claims}`]) {
      const response = await app.inject({ url: other.url, headers: { authorization: `Bearer ${forged}` } });
      expect(response.statusCode).toBe(401);
    }
  });
});
