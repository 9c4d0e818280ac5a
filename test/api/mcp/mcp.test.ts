import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loginInteraction } from '../fake-connections.ts';
import { startApi, type RunningApi } from '../../../api/service.ts';
import { API_KEY, useService } from '../service-fixture.ts';

const fixture = useService();
const SECRET = 'token-of-the-session';
const sent: { method: string; url: string; body: string }[] = [];
let upstream: Server;
let api: RunningApi;

/** A made-up browser service with one session. */
beforeAll(async () => {
  const session = {
    session_id: 'brw_1',
    created_at: '2026-01-01T00:00:00.000Z',
    cdp_ws_url: `ws://browsers.test/cdp?jwt=${SECRET}`,
    browser_live_view_url: `http://browsers.test/live?jwt=${SECRET}`,
    headless: true,
    timeout_seconds: 600,
    viewport: { width: 1280, height: 800 },
    profile: { id: 'prf_1', name: 'ann' },
  };
  const answers: Record<string, unknown> = {
    'POST /browsers': session,
    'GET /browsers': [session],
    'POST /browsers/brw_1/playwright/execute': {
      success: true,
      result: { url: 'https://shop.example/', title: 'Shop', text: 'Hello, Ann' },
      stdout: '',
      stderr: '',
    },
    'POST /browsers/brw_1/computer/click_mouse': '',
  };
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = `${request.method} ${request.url?.split('?', 1)[0]}`;
      sent.push({ method: request.method ?? '', url: request.url ?? '', body: Buffer.concat(chunks).toString() });
      if (asked.endsWith('/screenshot')) return response.end(Buffer.from('a picture'));
      if (request.method === 'DELETE') return response.writeHead(204).end();
      const answer = answers[asked];
      if (answer === undefined) {
        return response.writeHead(404).end('{"code":"not_found","message":"The browser session has ended"}');
      }
      return response.end(answer === '' ? '' : JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { deps } = fixture();
  const { port } = upstream.address() as AddressInfo;
  const settings = { ...deps.settings, browserBaseUrl: `http://127.0.0.1:${port}` };
  api = await startApi({ ...deps, settings, port: 0 });
});

afterAll(async () => {
  await api.close();
  upstream.close();
});

async function connect(headers: Record<string, string> = { authorization: `Bearer ${API_KEY}` }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(`${api.url}/mcp`), { requestInit: { headers } });
  await client.connect(transport);
  return client;
}

async function use(client: Client, name: string, input: Record<string, unknown> = {}) {
  const { content, structuredContent: found, isError } = await client.callTool({ name, arguments: input });
  const [first] = content;
  return { found, text: first?.type === 'text' ? first.text : '', failed: isError === true, first };
}

describe('the MCP server', () => {
  it('takes an agent from no connection to a logged-in one, and shows no secret', async () => {
    const client = await connect();
    const input = { domain: 'shop.example', profile_name: 'ann', save_credentials: true };
    const made = await use(client, 'create_connection', input);
    expect(made.found).toMatchObject({ status: 'NEEDS_AUTH' });
    expect(made.text).toContain('Not logged in');
    const { id: connection_id } = z.object({ id: z.string() }).parse(made.found);

    const login = await use(client, 'start_login', { connection_id });
    expect(login.text).toContain(`/login/${connection_id}?code=`);
    await fixture().connections.moveFlow(connection_id, {
      flow_step: 'AWAITING_INPUT',
      interaction: loginInteraction(),
    });
    const waiting = await use(client, 'get_connection', { connection_id });
    expect(waiting.found).toMatchObject({
      says: 'Not logged in; a login is waiting for a person: give them hosted_url',
      asks_for: ['E-mail', 'Password', 'Note'],
    });

    const again = await use(client, 'create_connection', input);
    expect(again.failed).toBe(true);
    expect(again.text).toMatch(new RegExp(`^already_exists: .*\nexisting_id: ${connection_id}$`));
    expect((await use(client, 'list_connections', { query: 'shop' })).found).toMatchObject({
      connections: [{ id: connection_id, profile_name: 'ann' }],
    });
    expect((await use(client, 'list_profiles')).failed).toBe(false);
    await client.close();
  });

  it('opens and uses a browser without returning its token', async () => {
    const client = await connect();
    const opened = await use(client, 'open_browser', { profile_name: 'ann', url: 'https://shop.example/' });
    expect(opened.found).toMatchObject({ session_id: 'brw_1', profile_name: 'ann' });
    expect(JSON.parse(sent.at(-1)?.body ?? '')).toMatchObject({
      profile: { name: 'ann' },
      start_url: 'https://shop.example/',
    });
    const session_id = 'brw_1';
    const listed = await use(client, 'list_browsers');
    const read = await use(client, 'read_page', { session_id });
    expect(read.found).toMatchObject({ title: 'Shop', text: 'Hello, Ann' });
    const picture = await use(client, 'take_screenshot', { session_id });
    expect(picture.first).toEqual({
      type: 'image',
      mimeType: 'image/png',
      data: Buffer.from('a picture').toString('base64'),
    });
    expect((await use(client, 'click', { session_id, x: 3, y: 4 })).failed).toBe(false);
    expect(sent.at(-1)).toMatchObject({ url: '/browsers/brw_1/computer/click_mouse', body: '{"x":3,"y":4}' });
    expect((await use(client, 'close_browser', { session_id })).found).toEqual({ closed: 'brw_1' });
    expect(await use(client, 'read_page', { session_id: '../profiles' })).toMatchObject({ failed: true });
    expect(JSON.stringify([opened, listed, read])).not.toContain(SECRET);
    await client.close();
  });

  it('has the access of its caller, and audits the operations', async () => {
    await expect(connect({})).rejects.toThrow();
    const project = (await fixture().call('POST', '/org/projects', { name: 'Other' })).json<{ id: string }>();
    const client = await connect({ authorization: `Bearer ${API_KEY}`, 'x-kernel-project-id': project.id });
    expect((await use(client, 'list_connections')).found).toEqual({ connections: [] });
    await client.close();
    const rows = async () =>
      (
        await fixture().store.auditLog.page(
          { organizationId: 'org_default', projectId: project.id },
          { limit: 20, search: '/auth/connections' },
        )
      ).rows;
    await expect.poll(rows).toMatchObject([{ method: 'GET', route: '/auth/connections', client_ip: '127.0.0.1' }]);
  });
});
