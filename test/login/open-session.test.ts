import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createBrowserService } from '../../browser-client/service.ts';
import { hasTelemetry, openLoginSession } from '../../activities/login/session/open-session.ts';
import type { LoginTarget } from '../../contract/activities.ts';
import type { TelemetryRequest } from '../../contract/telemetry.ts';
import { loginTarget } from './login-fixtures.ts';

/** A browser service that answers as it is told, and remembers what it was asked. */
async function startPeer(answers: { created: object; patch: number }): Promise<{
  url: string;
  asked: { call: string; managedAuth: string | undefined; body: unknown }[];
  server: Server;
}> {
  const asked: { call: string; managedAuth: string | undefined; body: unknown }[] = [];
  const read = async (request: IncomingMessage): Promise<unknown> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const header = request.headers['x-holdfast-managed-auth'];
      asked.push({
        call: `${request.method ?? ''} ${(request.url ?? '').split('?')[0] ?? ''}`,
        managedAuth: typeof header === 'string' ? header : undefined,
        body,
      });
      response.statusCode = request.method === 'PATCH' ? answers.patch : 200;
      const session = { session_id: 'b1', cdp_ws_url: 'ws://x/', ...answers.created };
      response.end(JSON.stringify(request.method === 'GET' ? [] : session));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
});

const target = (telemetry: TelemetryRequest | undefined): LoginTarget =>
  loginTarget(telemetry === undefined ? {} : { browser: { telemetry } });

async function open(
  telemetry: TelemetryRequest | undefined,
  created: object,
  patch = 200,
): Promise<{ asked: { call: string; managedAuth: string | undefined; body: unknown }[]; captured: boolean | string }> {
  const peer = await startPeer({ created, patch });
  const service = createBrowserService({ baseUrl: peer.url, apiKey: 'key' });
  stop = async () => {
    await service.close();
    peer.server.closeAllConnections();
    peer.server.close();
  };
  const captured = await openLoginSession(service, target(telemetry), 'flow-1', 60, new AbortController().signal).then(
    hasTelemetry,
    (error: unknown) => (error instanceof Error ? error.message : 'thrown'),
  );
  return { asked: peer.asked, captured };
}

const on = { enabled: true };
const captures = (...categories: string[]): object => ({
  telemetry: { browser: Object.fromEntries(categories.map((category) => [category, on])) },
});

describe('the session of a login', () => {
  it('uses the telemetry settings of the connection and declares its purpose', async () => {
    const telemetry = { browser: { interaction: on } };
    const { asked, captured } = await open(telemetry, { managed_auth: true, ...captures('control', 'interaction') });
    expect(asked.map(({ call, managedAuth }) => [call, managedAuth])).toEqual([
      ['GET /browsers', undefined],
      ['POST /browsers', 'true'],
    ]);
    expect(asked[1]?.body).toMatchObject({ name: 'flow-1', telemetry });
    expect(captured).toBe(true);
  });

  it('captures no typed text on a service that does not leave it out', async () => {
    const { asked, captured } = await open({ browser: { network: on } }, captures('control', 'network'));
    expect(asked.map(({ call }) => call)).toEqual(['GET /browsers', 'POST /browsers', 'PATCH /browsers/b1']);
    const off = { enabled: false };
    expect(asked[2]?.body).toEqual({
      telemetry: { browser: { console: off, network: off, interaction: off, screenshot: off } },
    });
    expect(captured).toBe(true);
  });

  it('is not used if that telemetry cannot be turned off', async () => {
    const { asked, captured } = await open({ browser: { console: on } }, captures('console'), 500);
    expect(asked.at(-1)?.call).toBe('DELETE /browsers/b1');
    expect(captured).toContain('browser service failed');
  });

  it.each([
    ['nothing asked', undefined, {}, false],
    ['the default set', { enabled: true }, captures('control'), true],
    ['a peer that echoes something else', { enabled: true }, { telemetry: 'yes', managed_auth: 7 }, false],
    ['null', undefined, { telemetry: null }, false],
  ])('keeps its telemetry: %s', async (_, telemetry, created, captured) => {
    const opened = await open(telemetry, created);
    expect(opened.asked).toHaveLength(2);
    expect(opened.captured).toBe(captured);
  });
});
