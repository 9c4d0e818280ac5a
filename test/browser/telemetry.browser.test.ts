import { describe, expect } from 'vitest';
import { CdpCommandData } from '../../contract/telemetry-commands.ts';
import { TelemetryEnvelope } from '../../contract/telemetry-events.ts';
import { connectRaw } from './raw-client.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { API_KEY, eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;

it.beforeAll(({ service: shared }) => {
  service = shared;
});

/** Events of a session, each checked against its schema. */
async function eventsOf(id: string): Promise<TelemetryEnvelope[]> {
  const page = await service.kernel.browsers.telemetry.events(id, { limit: 100 });
  const all: TelemetryEnvelope[] = [];
  for await (const event of page) all.push(TelemetryEnvelope.parse(event));
  return all;
}

const typesOf = (events: TelemetryEnvelope[]): string[] => events.map(({ event }) => event.type);

describe('telemetry of a session', () => {
  it('delivers connections and commands by stream and in pages, and resumes after seen events', async () => {
    const {
      session_id: id,
      cdp_ws_url: url,
      telemetry,
    } = await service.kernel.browsers.create({
      telemetry: { enabled: true },
    });
    expect(telemetry?.browser).toMatchObject({ control: { enabled: true }, console: { enabled: false } });
    const stream = await service.kernel.browsers.telemetry.stream(id);
    const client = await connectRaw(url);
    const targets = (await client.call('Target.getTargets')) as {
      result: { targetInfos: { targetId: string; type: string }[] };
    };
    const targetId = targets.result.targetInfos.find(({ type }) => type === 'page')?.targetId;
    const attached = (await client.call('Target.attachToTarget', { targetId, flatten: true })) as {
      result: { sessionId: string };
    };
    const { sessionId } = attached.result;
    await client.call('Page.navigate', { url: 'about:blank?secret=hunter2' }, sessionId);
    await client.call('Input.insertText', { text: 'hunter2' }, sessionId);
    await client.close();

    const seen: TelemetryEnvelope[] = [];
    for await (const event of stream) {
      seen.push(TelemetryEnvelope.parse(event));
      if (event.event.type === 'cdp_disconnect') break;
    }
    expect(typesOf(seen)).toEqual(['cdp_connect', 'cdp_command', 'cdp_command', 'cdp_disconnect']);
    expect(seen.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    const connection = (seen[0]?.event.data as { connection_id: string } | undefined)?.connection_id;
    expect(seen.map(({ event }) => event.data)).toMatchObject([
      {},
      { method: 'Page.navigate', url_scheme: 'about', session_id: sessionId, connection_id: connection, command_id: 3 },
      { method: 'Input.insertText', text_length: 7, session_id: sessionId, connection_id: connection },
      { connection_id: connection, reason: 'client_close' },
    ]);
    expect((seen[3]?.event.data as { message_count: number } | undefined)?.message_count).toBeGreaterThanOrEqual(8);
    expect(JSON.stringify(seen)).not.toContain('hunter2');
    expect(await eventsOf(id)).toEqual(seen);

    const rest = await service.kernel.browsers.telemetry.stream(id, { 'Last-Event-ID': '2', replay: 'all' });
    const resumed: number[] = [];
    for await (const { seq } of rest) {
      resumed.push(seq);
      if (seq === 4) break;
    }
    expect(resumed).toEqual([3, 4]);

    const chosen = await fetch(`${service.handle.url}/browsers/${id}/telemetry/stream?replay=all&type=cdp_connect`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const some = await fetch(`${service.handle.url}/browsers/${id}/telemetry/events?type=cdp_connect,cdp_disconnect`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect(((await some.json()) as { seq: number }[]).map(({ seq }) => seq)).toEqual([1, 4]);
    const last = await service.kernel.browsers.telemetry.stream(id, { replay: 'all' });
    await service.kernel.browsers.deleteByID(id);
    const all: number[] = [];
    for await (const { seq } of last) all.push(seq);
    expect(all).toEqual([1, 2, 3, 4]);
    const frames = (await chosen.text()).split('\n\n').filter((frame) => frame !== '');
    expect(frames.map((frame) => frame.split('\n')[0])).toEqual(['id: 1', 'id: 4']);
    expect(frames[1]).toBe('id: 4');
    expect(await eventsOf(id)).toEqual(seen);
    await expect(service.kernel.browsers.telemetry.stream(id)).rejects.toMatchObject({ status: 404 });
  });

  it('can be changed by an update, and captures nothing while off', async () => {
    const { session_id: id, cdp_ws_url: url, telemetry } = await service.kernel.browsers.create();
    expect(telemetry).toBeNull();
    await (await connectRaw(url)).close();
    const on = await service.kernel.browsers.update(id, { telemetry: { browser: { control: { enabled: false } } } });
    expect(on.telemetry?.browser).toMatchObject({ control: { enabled: false }, connection: { enabled: true } });
    const client = await connectRaw(url);
    await client.call('Browser.close');
    await eventually(async () => {
      expect(typesOf(await eventsOf(id))).toEqual(['cdp_connect', 'cdp_disconnect']);
    });
    const off = await service.kernel.browsers.update(id, { telemetry: { enabled: false } });
    expect(off.telemetry).toBeNull();
    await expect(
      service.kernel.browsers.update(id, {
        telemetry: { enabled: false, browser: { console: { enabled: true } } },
      }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('telemetry.enabled') as string });
    await service.kernel.browsers.deleteByID(id);
  });

  it('omits excluded commands until the exclusion is changed', async () => {
    const control = (methods?: string[]): object =>
      methods === undefined ? { enabled: true } : { cdp: { excluded_methods: methods } };
    const session = await service.kernel.browsers.create({
      telemetry: { browser: { control: control(['Input.insertText']) } },
    });
    const { session_id: id } = session;
    expect(session.telemetry?.browser?.control).toEqual({
      enabled: true,
      cdp: { excluded_methods: ['Input.insertText'] },
    });
    const commands = async (): Promise<unknown[]> => {
      const client = await connectRaw(session.cdp_ws_url);
      for (const method of ['Input.insertText', 'Page.stopLoading']) await client.call(method, { text: 'x' });
      const before = (await eventsOf(id)).length;
      await client.close();
      const last = await eventually(async () => {
        const found = await eventsOf(id);
        expect(found.at(-1)?.event.type).toBe('cdp_disconnect');
        expect(found.length).toBeGreaterThan(before);
        return found;
      });
      const recorded = last.slice(last.findLastIndex(({ event }) => event.type === 'cdp_connect') + 1);
      return recorded.map(({ event }) => {
        const { method, telemetry_excluded: excluded } = event.data as { method?: string; telemetry_excluded?: number };
        return method ?? excluded;
      });
    };
    expect(await commands()).toEqual(['Page.stopLoading', 1]);
    await service.kernel.browsers.update(id, { telemetry: { browser: { control: control() } } });
    expect(await commands()).toEqual(['Page.stopLoading', 1]);
    await service.kernel.browsers.update(id, { telemetry: { browser: { control: control([]) } } });
    expect(await commands()).toEqual(['Input.insertText', 'Page.stopLoading', undefined]);
    await expect(
      service.kernel.browsers.update(id, { telemetry: { browser: { control: control(['Page.enable']) } } }),
    ).rejects.toMatchObject({ status: 400 });
    await service.kernel.browsers.deleteByID(id);
  });

  it('records a browser crash, and why its connections ended', async () => {
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({ telemetry: { enabled: true } });
    const stream = await service.kernel.browsers.telemetry.stream(id);
    const client = await connectRaw(url);
    const { result } = (await client.call('SystemInfo.getProcessInfo')) as {
      result: { processInfo: { type: string; id: number }[] };
    };
    process.kill(result.processInfo.find(({ type }) => type === 'browser')?.id ?? 0, 'SIGKILL');
    const seen: TelemetryEnvelope[] = [];
    for await (const event of stream) seen.push(TelemetryEnvelope.parse(event));
    expect(typesOf(seen).toSorted()).toEqual(['cdp_connect', 'cdp_disconnect', 'service_crashed']);
    const data = Object.fromEntries(seen.map(({ event }) => [event.type, event.data]));
    expect(data).toMatchObject({
      cdp_disconnect: { reason: 'upstream_error' },
      service_crashed: { service_name: 'chromium', phase: 'running' },
    });
  });

  it('allows streams only with the token of its session', async () => {
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({ telemetry: { enabled: true } });
    const { session_id: other } = await service.kernel.browsers.create();
    const jwt = new URL(url).searchParams.get('jwt') ?? '';
    const open = (session: string, token: string): Promise<Response> =>
      fetch(`${service.handle.url}/browsers/${session}/telemetry/stream?jwt=${token}&replay=all`);
    const good = await open(id, jwt);
    expect([good.status, good.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await good.body?.cancel();
    expect((await open(other, jwt)).status).toBe(401);
    expect((await open(id, 'wrong')).status).toBe(401);
    expect((await open(id, '')).status).toBe(401);
    expect((await fetch(`${service.handle.url}/browsers/${id}/telemetry/events?jwt=${jwt}`)).status).toBe(200);
    const headers = { authorization: `Bearer ${API_KEY}` };
    const named = await fetch(`${service.handle.url}/browsers/${id}/telemetry/stream`, { headers });
    expect(named.status).toBe(200);
    await named.body?.cancel();
    await service.kernel.browsers.deleteByID(id);
    await service.kernel.browsers.deleteByID(other);
  });
});

describe('API calls to a session', () => {
  it('are recorded, including failed ones, without what was sent', async () => {
    const { session_id: id } = await service.kernel.browsers.create({
      telemetry: { enabled: true, browser: { connection: { enabled: false } } },
    });
    await service.kernel.browsers.computer.clickMouse(id, { x: 5, y: 6 });
    await service.kernel.browsers.computer.typeText(id, { text: 'hunter2' });
    await expect(service.kernel.browsers.computer.moveMouse(id, { x: -1e9, y: 0.5 })).rejects.toMatchObject({
      status: 400,
    });
    await service.kernel.browsers.logs.stream(id, { source: 'path', path: '/x', follow: false }).catch(() => undefined);
    const events = await eventually(async () => {
      const found = await eventsOf(id);
      expect(found).toHaveLength(3);
      return found;
    });
    expect(events.map(({ event }) => event.data)).toMatchObject([
      { operation_id: 'ClickMouse', status: 200 },
      { operation_id: 'TypeText', status: 200 },
      { operation_id: 'MoveMouse', status: 400 },
    ]);
    expect(JSON.stringify(events)).not.toContain('hunter2');
    const ids = events.map(({ event }) => (event.data as { request_id: string }).request_id);
    expect(new Set(ids).size).toBe(3);
    await service.kernel.browsers.update(id, { telemetry: { browser: { control: { enabled: false } } } });
    const platform = { platform: { enabled: true } } as object;
    await service.kernel.browsers.update(id, { telemetry: { browser: platform } });
    await service.kernel.browsers.computer.clickMouse(id, { x: 5, y: 6 });
    await service.kernel.browsers.playwright.execute(id, { code: 'return 1' }).catch(() => undefined);
    await service.kernel.browsers.replays.list(id).catch(() => undefined);
    await eventually(async () => {
      const recorded = (await eventsOf(id)).slice(3);
      expect(recorded).toMatchObject([{ event: { type: 'platform_api_call', data: { operation_id: 'ListReplays' } } }]);
    });
    const chosen = await service.kernel.browsers.telemetry.events(id, { category: ['control', 'page'], limit: 2 });
    expect(chosen.getPaginatedItems()).toHaveLength(2);
    expect(chosen.hasNextPage()).toBe(true);
    await service.kernel.browsers.deleteByID(id);
  });
});

describe('the parameters of a client’s commands', () => {
  it('are in no event, whatever the command and its values', async () => {
    const secret = 'pa55wörd-47zq11';
    const { session_id: id, cdp_ws_url: url } = await service.kernel.browsers.create({ telemetry: { enabled: true } });
    const client = await connectRaw(url);
    const { result } = (await client.call('Target.createTarget', { url: 'about:blank' })) as {
      result: { targetId: string };
    };
    const attached = (await client.call('Target.attachToTarget', { ...result, flatten: true })) as {
      result: { sessionId: string };
    };
    for (const junk of [
      '',
      '{',
      'null',
      '[]',
      '7',
      `"${secret}"`,
      `{"id":"${secret}"}`,
      '{"id":1}',
      '{"method":7,"id":1}',
    ]) {
      client.send(junk);
    }
    const everywhere = (depth: number): Record<string, unknown> => {
      const names =
        'text unmodifiedText key code keyIdentifier url referrer promptText headerTemplate footerTemplate pageRanges type button format mode mimeType title baseURL interactionMarkerName transitionType referrerPolicy frameId guid browserContextId gestureSourceType pointerType windowState targetId objectId loaderId panelId state transferMode scriptToEvaluateOnLoad';
      const texts = Object.fromEntries(names.split(' ').map((name) => [name, secret]));
      if (depth === 0) return texts;
      const inner = everywhere(depth - 1);
      const lists = {
        touchPoints: [inner],
        commands: [secret],
        items: [inner],
        fields: [{ name: secret, value: secret }],
      };
      return { ...texts, ...lists, data: inner, card: inner, address: inner, bounds: inner, clip: inner };
    };
    const sent = { ...everywhere(2), fieldId: 1, windowId: 1, entryId: 1, accept: true, files: [] };
    const methods = CdpCommandData.options.map((option) => option.shape.method.value);
    for (const method of methods.filter((name) => name !== 'Browser.close' && name !== 'Page.close')) {
      await client.call(method, sent, attached.result.sessionId);
      await client.call(method, { ...sent, url: `data:text/html,${secret}` }, secret);
    }
    await client.call('Page.close', sent, attached.result.sessionId);
    await client.call('Browser.close', sent);
    const events = await eventually(async () => {
      const found = await eventsOf(id);
      expect(found.at(-1)?.event.type).toBe('cdp_disconnect');
      return found;
    });
    const recorded = new Set(
      events
        .flatMap(({ event }) => (event.type === 'cdp_command' ? [event.data as { method: string }] : []))
        .map(({ method }) => method),
    );
    // Commands with a required target are recorded only if it is an identifier.
    const aimed = /^Browser.cancelDownload$|^Target.(?:activateTarget|closeTarget|disposeBrowserContext|openDevTools)$/;
    expect([...recorded].toSorted()).toEqual(methods.filter((name) => !aimed.test(name)).toSorted());
    expect(JSON.stringify(events)).not.toMatch(/pa55w|47zq11|wörd/);
    expect((await service.kernel.browsers.retrieve(id)).session_id).toBe(id);
    await service.kernel.browsers.deleteByID(id);
  });
});
