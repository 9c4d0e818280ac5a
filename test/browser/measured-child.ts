import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Kernel from '@onkernel/sdk';
import { WebSocket } from 'ws';
import type { Holdings } from './measured-service.ts';
import { API_KEY } from './memory-profiles.ts';
import { serviceProgram } from './service-program.ts';

export const MB = 1024 * 1024;

/** How often its memory is looked at: each look collects all garbage, and what does nothing else measures only itself. */
const LOOK_EVERY_MS = 1000;

/** A service in a process of its own, whose memory can be watched while a client of it does not read. */
export interface MeasuredChild {
  url: string;
  kernel: Kernel;
  /** A session with an open page, and a client that reads all that is said in it. */
  begin(): Promise<Flooded>;
  /** A websocket that is closed with the service. */
  connect(address: string): Promise<Client>;
  /** How much more memory than before the service takes at most meanwhile; other sessions are served. */
  growth(action: () => Promise<void>): Promise<Growth>;
  /** What it holds on to now. */
  holdings(): Promise<Holdings>;
  /** Called before the service ends. */
  onStop(stop: () => void): void;
  stop(): Promise<void>;
}

/** In MB. */
export interface Growth {
  /** Of all its memory: of what waits in sockets and between threads, too, and of what is not given back at once. */
  resident: number;
  /** Of what is in use, on the heap and outside of it. */
  held: number;
}

export interface Flooded {
  session: Awaited<ReturnType<Kernel['browsers']['create']>>;
  reader: Client;
  /** The page's target. */
  page: string;
}

export type Client = Awaited<ReturnType<typeof connect>>;

export async function startMeasured(chromiumPath: string): Promise<MeasuredChild> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-slow-'));
  const program = serviceProgram('measured-service');
  const child = fork(program, [path.join(folder, 'work'), chromiumPath], { execArgv: [] });
  const heard = async <Message>(): Promise<Message> => {
    const [message] = (await once(child, 'message')) as [Message];
    return message;
  };
  const holdings = async (): Promise<Holdings> => {
    child.send('measure');
    return heard();
  };
  const { url } = await heard<{ url: string }>();
  const kernel = new Kernel({ apiKey: API_KEY, baseURL: url, maxRetries: 0 });
  const stops: (() => void)[] = [];
  const open = async (address: string): Promise<Client> => {
    const client = await connect(address);
    stops.push(() => {
      client.socket.terminate();
    });
    return client;
  };
  return {
    url,
    kernel,
    holdings,
    connect: open,
    begin: async () => {
      const session = await kernel.browsers.create({ headless: true });
      const reader = await open(session.cdp_ws_url);
      const { targetInfos } = (await reader.call('Target.getTargets')) as {
        targetInfos: { targetId: string; type: string }[];
      };
      const page = targetInfos.find(({ type }) => type === 'page')?.targetId ?? '';
      await reader.attach(page);
      return { session, reader, page };
    },
    growth: async (action) => {
      const before = await holdings();
      const most: Growth = { resident: 0, held: 0 };
      const look = async (): Promise<void> => {
        const { resident, heap, external } = await holdings();
        most.resident = Math.max(most.resident, (resident - before.resident) / MB);
        most.held = Math.max(most.held, (heap + external - before.heap - before.external) / MB);
      };
      const state = { over: false };
      const acted = action().finally(() => (state.over = true));
      while (!state.over) {
        await kernel.browsers.list();
        await look();
        await Promise.race([acted, setTimeout(LOOK_EVERY_MS)]);
      }
      await acted;
      await look();
      return most;
    },
    onStop: (stop) => void stops.push(stop),
    stop: async () => {
      for (const stop of stops) stop();
      const exited = once(child, 'exit');
      child.send('close');
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
}

/** A client that gives its commands numbers: of CDP, of WebDriver BiDi; or one that only looks. */
async function connect(address: string) {
  const socket = new WebSocket(address, { maxPayload: 0 });
  const waiting = new Map<number, (result: unknown) => void>();
  let bytes = 0;
  let last = 0;
  let sessionId: string | undefined;
  socket.on('message', (data: Buffer, isBinary) => {
    bytes += data.length;
    // What has an id is an answer; the flood need not be parsed.
    if (isBinary || data.length > 16 * 1024) return;
    const { id, result } = JSON.parse(data.toString()) as { id?: number; result?: unknown };
    waiting.get(id ?? 0)?.(result);
  });
  await once(socket, 'open');
  const call = (method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      socket.send(JSON.stringify({ id: last, method, params, sessionId }));
    });
  return {
    socket,
    call,
    /** All that has come. */
    bytes: () => bytes,
    attach: async (targetId: string): Promise<void> => {
      const attached = await call('Target.attachToTarget', { targetId, flatten: true });
      ({ sessionId } = attached as { sessionId: string });
      await call('Runtime.enable');
    },
    evaluate: (expression: string) => call('Runtime.evaluate', { expression }),
  };
}
