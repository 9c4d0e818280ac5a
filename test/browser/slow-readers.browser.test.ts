import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import Kernel from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { WebSocket } from 'ws';
import type { Holdings } from './measured-service.ts';
import { API_KEY } from './memory-profiles.ts';

const MB = 1024 * 1024;
/** What a page says while somebody does not read it. */
const FLOOD_MB = 200;
/** What the service may take more meanwhile: its own buffers, and what no collection has freed yet. */
const MOST_MORE_MB = 80;
/** A page's megabytes, ten of them. */
const SAY_TEN_MB = `for (let count = 0; count < 10; count += 1) console.log('x'.repeat(${String(MB)} - count))`;

let folder = '';
let child: ChildProcess;
let kernel: Kernel;
let url = '';
const open: (() => void)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-slow-'));
  const program = path.join(import.meta.dirname, 'measured-service.ts');
  child = fork(program, [path.join(folder, 'work'), inject('chromiumPath')], {
    execArgv: ['--expose-gc', '--import', 'tsx'],
  });
  ({ url } = await heard<{ url: string }>());
  kernel = new Kernel({ apiKey: API_KEY, baseURL: url, maxRetries: 0 });
});
afterAll(async () => {
  for (const close of open) close();
  const exited = once(child, 'exit');
  child.send('close');
  await exited;
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

describe('a client that has stopped reading holds up nobody, and the service keeps little for it:', () => {
  it('of CDP, flooded with events', { timeout: 90_000 }, async () => {
    const { session, reader, page } = await begin();
    const stuck = await connect(session.cdp_ws_url);
    await stuck.attach(page);
    stuck.socket.pause();
    expect(await growth(() => flood(reader))).toBeLessThan(MOST_MORE_MB);
    expect(reader.bytes()).toBeGreaterThan(FLOOD_MB * MB);
  });

  it('of CDP, that says what the service answers itself', { timeout: 90_000 }, async () => {
    const { session, reader } = await begin();
    const stuck = await upgrade(session.cdp_ws_url);
    stuck.pause();
    // Frames of one byte that is no command, each answered with a hundred.
    const frames = Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x78])));
    for (let count = 0; count < 20; count += 1) stuck.write(frames);
    expect(await growth(() => flood(reader, 50))).toBeLessThan(MOST_MORE_MB);
  });

  it('of telemetry', { timeout: 90_000 }, async () => {
    const { session, reader } = await begin();
    await kernel.browsers.update(session.session_id, { telemetry: { browser: { console: { enabled: true } } } });
    const request = http.get(`${url}/browsers/${session.session_id}/telemetry/stream?replay=all`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.on('error', () => undefined).pause();
    expect(await growth(() => flood(reader))).toBeLessThan(MOST_MORE_MB);
    response.destroy();
  });
});

/** A session with a page that anything can be said in, and a client that reads all of it. */
async function begin() {
  const session = await kernel.browsers.create({ headless: false });
  const reader = await connect(session.cdp_ws_url);
  const { targetInfos } = (await reader.call('Target.getTargets')) as {
    targetInfos: { targetId: string; type: string }[];
  };
  const page = targetInfos.find(({ type }) => type === 'page')?.targetId ?? '';
  await reader.attach(page);
  return { session, reader, page };
}

type Client = Awaited<ReturnType<typeof connect>>;

async function connect(address: string) {
  const socket = new WebSocket(address, { maxPayload: 0 });
  open.push(() => {
    socket.terminate();
  });
  const waiting = new Map<number, (result: unknown) => void>();
  let bytes = 0;
  socket.on('message', (data: Buffer, isBinary) => {
    bytes += data.length;
    // What has an id is an answer; the flood need not be parsed.
    if (isBinary || data.length > MB / 2) return;
    const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: unknown };
    waiting.get(id ?? 0)?.(result);
  });
  await once(socket, 'open');
  let last = 0;
  let sessionId: string | undefined;
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  return {
    socket,
    call,
    bytes: () => bytes,
    attach: async (targetId: string): Promise<void> => {
      const attached = await call('Target.attachToTarget', { targetId, flatten: true });
      ({ sessionId } = attached as { sessionId: string });
      await call('Runtime.enable');
    },
    evaluate: (expression: string) => call('Runtime.evaluate', { expression }),
  };
}

/** A websocket whose frames are written by hand. */
async function upgrade(address: string): Promise<Socket> {
  const request = http.get(address.replace(/^ws/, 'http'), {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    },
  });
  const [, socket] = (await once(request, 'upgrade')) as [unknown, Socket];
  socket.on('error', () => undefined);
  open.push(() => socket.destroy());
  return socket;
}

async function flood(client: Client, megabytes = FLOOD_MB): Promise<void> {
  for (let said = 0; said <= megabytes; said += 10) await client.evaluate(SAY_TEN_MB);
}

/** How much more memory than before the service holds at most meanwhile, in megabytes; other sessions are served. */
async function growth(action: () => Promise<void>): Promise<number> {
  const before = await resident();
  const state = { over: false };
  const acted = action().finally(() => (state.over = true));
  let most = 0;
  while (!state.over) {
    await kernel.browsers.list();
    most = Math.max(most, await resident());
  }
  await acted;
  most = Math.max(most, await resident());
  return (most - before) / MB;
}

async function resident(): Promise<number> {
  child.send('measure');
  return (await heard<Holdings>()).resident;
}

async function heard<Message>(): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message];
  return message;
}
