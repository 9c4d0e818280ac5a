import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import Kernel from '@onkernel/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { loginInteraction } from './fake-connections.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
let base = '';

beforeAll(async () => {
  const { app } = fixture();
  await app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});

interface StreamEvent {
  event: string;
  id: number;
  data: {
    event: string;
    flow_status: string;
    flow_step: string;
    flow_id?: string;
    interaction_id?: string;
    hosted_url?: string;
  };
}

function open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${base}${path}`, { headers: { authorization: `Bearer ${API_KEY}`, ...headers }, agent: false }, resolve).on(
      'error',
      reject,
    );
  });
}

/** Reads a whole stream of events; `onData` is called with each piece that comes. */
async function readAll(response: IncomingMessage, onData = (): void => undefined): Promise<StreamEvent[]> {
  let text = '';
  for await (const chunk of response) {
    text += String(chunk);
    onData();
  }
  return text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const lines = frame
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]);
      const fields = Object.fromEntries(lines) as Record<string, string>;
      return {
        event: fields['event'] ?? '',
        id: Number(fields['id']),
        data: JSON.parse(fields['data'] ?? '{}') as StreamEvent['data'],
      };
    });
}

async function connection(domain: string): Promise<{ id: string; url: string }> {
  const { call } = fixture();
  const { id } = (await call('POST', '/auth/connections', { domain, profile_name: 'ann' })).json<{ id: string }>();
  return { id, url: `/auth/connections/${id}` };
}

describe('events', () => {
  it('end with a canceled flow when the connection is deleted', async () => {
    const { call, connections } = fixture();
    const { id, url } = await connection('deleted.example');
    await call('POST', `${url}/login`);
    await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction: loginInteraction() });
    const response = await open(`${url}/events`);
    let deleted = false;
    const events = await readAll(response, () => {
      if (!deleted) void call('DELETE', url);
      deleted = true;
    });
    const told = events.filter(({ event }) => event === 'managed_auth_state');
    expect(told.map(({ data }) => data.flow_status)).toEqual(['IN_PROGRESS', 'CANCELED']);
    expect(told[1]?.data).not.toHaveProperty('interaction_id');
  });

  it('end after the headers for HEAD', async () => {
    const { app } = fixture();
    const { url } = await connection('headed.example');
    const headers = { authorization: `Bearer ${API_KEY}` };
    const answer = await app.inject({ method: 'HEAD', url: `${url}/events`, headers });
    expect([answer.statusCode, answer.body]).toEqual([200, '']);
    expect(answer.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
  });

  it('send headers at once, wait for a flow, report every state in order and end with it', async () => {
    const { call, connections } = fixture();
    const { id, url } = await connection('stream.example');
    const response = await open(`${url}/events`);
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'x-sse-content-type': 'application/json',
      'cache-control': 'no-store',
    });
    const reading = readAll(response);
    await call('POST', `${url}/login`);
    const interaction = loginInteraction();
    await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction });
    await connections.moveFlow(id, { flow_step: 'SUBMITTING', interaction: null });
    await connections.moveFlow(id, { flow_status: 'SUCCESS', flow_step: 'COMPLETED' });
    const events = await reading;
    expect(events.map(({ event, id: revision, data }) => [event, revision, data.flow_step])).toEqual([
      ['managed_auth_state', 2, 'DISCOVERING'],
      ['managed_auth_state', 3, 'AWAITING_INPUT'],
      ['managed_auth_state', 4, 'SUBMITTING'],
      ['managed_auth_state', 5, 'COMPLETED'],
    ]);
    expect(events[1]?.data).toMatchObject({ interaction_id: interaction.interaction_id, fields: interaction.fields });
    expect(events[1]?.data.hosted_url).toMatch(/\/login\/conn_.*\?code=/);
    expect(events[2]?.data).not.toHaveProperty('fields');

    // A reader that comes late gets the end at once; one that has it already, only the end of the stream.
    expect((await readAll(await open(`${url}/events`))).map(({ id: revision }) => revision)).toEqual([5]);
    expect(await readAll(await open(`${url}/events`, { 'last-event-id': '5' }))).toEqual([]);
    const resumed = await readAll(await open(`${url}/events`, { 'last-event-id': '3' }));
    expect(resumed.map(({ data }) => data.flow_step)).toEqual(['SUBMITTING', 'COMPLETED']);
    expect((await readAll(await open(`${url}/events`, { 'last-event-id': '99999' }))).map((e) => e.id)).toEqual([5]);
  });

  it('carry the flow id that login, the connection and its timeline show', async () => {
    const { call, connections } = fixture();
    const { id, url } = await connection('attempts.example');
    const attempt = async (): Promise<string> => {
      const { flow_id: flowId } = (await call('POST', `${url}/login`)).json<{ flow_id: string }>();
      expect((await call('GET', url)).json()).toMatchObject({ flow_id: flowId, flow_status: 'IN_PROGRESS' });
      const reading = readAll(await open(`${url}/events`));
      await connections.moveFlow(id, { flow_status: 'FAILED', error_code: 'website_error' });
      const told = (await reading).map(({ data }) => data);
      expect(told.map((data) => [data.flow_status, data.flow_id])).toEqual([
        ['IN_PROGRESS', flowId],
        ['FAILED', flowId],
      ]);
      expect((await call('GET', url)).json()).toMatchObject({ flow_id: flowId, flow_status: 'FAILED' });
      return flowId;
    };
    const [first, second] = [await attempt(), await attempt()];
    expect(first).not.toBe(second);
    const timeline = (await call('GET', `${url}/timeline`)).json<{ flow_id: string }[]>();
    expect(timeline.map((event) => event.flow_id)).toEqual([second, first]);
  });

  it('give a slow reader every state in order, without delaying others', async () => {
    const { call, connections } = fixture();
    const { id, url } = await connection('slow.example');
    await call('POST', `${url}/login`);
    const slow = await open(`${url}/events`);
    slow.pause();
    const quick = open(`${url}/events`).then(readAll);
    const long = 'x'.repeat(100_000);
    for (let step = 0; step < 60; step += 1) {
      await connections.moveFlow(id, { website_error: `${step} ${long}` });
    }
    await connections.moveFlow(id, { flow_status: 'FAILED', flow_step: 'COMPLETED', error_code: 'website_error' });
    const seenQuickly = (await quick).map(({ id: revision }) => revision);
    expect(seenQuickly.at(-1)).toBe(63);
    const seenSlowly = (await readAll(slow)).map(({ id: revision }) => revision);
    expect(seenSlowly).toEqual(Array.from({ length: 62 }, (_, index) => index + 2));
  }, 60_000);

  it('report EXPIRED when the flow is overdue and the workflow has not', async () => {
    const { call, shiftClock } = fixture();
    const { url } = await connection('expire.example');
    await call('POST', `${url}/login`);
    shiftClock(20 * 60_000 - 3000);
    const response = await open(`${url}/events`);
    const events = await readAll(response, () => {
      shiftClock(20 * 60_000 + 5000);
    });
    shiftClock(0);
    expect(events.map(({ data }) => data.flow_status)).toEqual(['IN_PROGRESS', 'EXPIRED']);
  });

  it('end when the connection is deleted', async () => {
    const { call } = fixture();
    const { url } = await connection('deleted.example');
    await call('POST', `${url}/login`);
    let deleted: Promise<unknown> | undefined;
    const seen = await readAll(await open(`${url}/events`), () => {
      deleted ??= call('DELETE', url);
    });
    await deleted;
    expect(seen.length).toBeGreaterThan(0);
    expect((await open(`${url}/events`)).statusCode).toBe(404);
  });

  it('work with the public client, as does the rest of the API', async () => {
    const { connections } = fixture();
    const kernel = new Kernel({ apiKey: API_KEY, baseURL: base });
    await kernel.profiles.create({ name: 'sdk/ann' });
    const made = await kernel.auth.connections.create({ domain: 'sdk.example', profile_name: 'sdk/ann' });
    await expect(
      kernel.auth.connections.create({ domain: 'sdk.example', profile_name: 'sdk/ann' }),
    ).rejects.toMatchObject({ status: 409, error: { existing_id: made.id } });
    const login = await kernel.auth.connections.login(made.id);
    expect(login.hosted_url).toContain(login.handoff_code);
    const interaction = loginInteraction();
    await connections.moveFlow(made.id, { flow_step: 'AWAITING_INPUT', interaction });
    const steps: string[] = [];
    for await (const event of await kernel.auth.connections.follow(made.id)) {
      if (event.event !== 'managed_auth_state') continue;
      steps.push(event.flow_step);
      if (event.flow_step === 'AWAITING_INPUT') {
        const accepted = await kernel.auth.connections.submit(made.id, { fields: { email: 'a', pw: 'b' } });
        expect(accepted.accepted).toBe(true);
        await connections.moveFlow(made.id, { flow_status: 'SUCCESS', flow_step: 'COMPLETED' });
      }
    }
    expect(steps).toEqual(['AWAITING_INPUT', 'SUBMITTING', 'COMPLETED']);
    const domains: string[] = [];
    for await (const item of kernel.auth.connections.list({ profile_name: 'sdk/ann', limit: 1 })) {
      domains.push(item.domain);
    }
    expect(domains).toEqual(['sdk.example']);
    expect((await kernel.profiles.retrieve('sdk/ann')).name).toBe('sdk/ann');
    const credential = await kernel.credentials.create({ name: 'é/1', domain: 'sdk.example', values: { a: 'b' } });
    expect((await kernel.credentials.retrieve('é/1')).id).toBe(credential.id);
    await kernel.credentials.delete('é/1');
    const key = await kernel.apiKeys.create({ name: 'sdk' });
    expect((await kernel.apiKeys.rotate(key.id)).name).toBe('sdk');
    await kernel.apiKeys.delete(key.id);
    await kernel.auth.connections.delete(made.id);
    await expect(kernel.auth.connections.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('end when the service shuts down', async () => {
    const { app } = fixture();
    const { url } = await connection('closing.example');
    const response = await open(`${url}/events`);
    const reading = readAll(response);
    const before = Date.now();
    await app.close();
    expect(await reading).toEqual([]);
    expect(Date.now() - before).toBeLessThan(60_000);
  });
});
