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

/** Each sample collects all garbage, so frequent samples would measure mainly themselves. */
const SAMPLE_INTERVAL_MS = 1000;

/** A service in a separate process whose memory is measured, for tests of clients that do not read. */
export interface MeasuredChild {
  url: string;
  kernel: Kernel;
  /** A session with an open page, and a client that reads all its events. */
  begin(): Promise<Flooded>;
  /** A WebSocket that is closed with the service. */
  connect(address: string): Promise<Client>;
  /** Peak memory growth of the service during `action`; also checks that it keeps responding. */
  growth(action: () => Promise<void>): Promise<Growth>;
  /** Resources in use now. */
  holdings(): Promise<Holdings>;
  /** Called before the service ends. */
  onStop(stop: () => void): void;
  stop(): Promise<void>;
}

/** In MB. */
export interface Growth {
  /** All memory, including socket buffers and memory not returned to the system yet. */
  resident: number;
  /** Memory in use on and off the heap. */
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
  const nextMessage = async <Message>(): Promise<Message> => {
    const [message] = (await once(child, 'message')) as [Message];
    return message;
  };
  const holdings = async (): Promise<Holdings> => {
    child.send('measure');
    return nextMessage();
  };
  const { url } = await nextMessage<{ url: string }>();
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
      const sample = async (): Promise<void> => {
        const { resident, heap, external } = await holdings();
        most.resident = Math.max(most.resident, (resident - before.resident) / MB);
        most.held = Math.max(most.held, (heap + external - before.heap - before.external) / MB);
      };
      const state = { isDone: false };
      const acting = action().finally(() => (state.isDone = true));
      while (!state.isDone) {
        await kernel.browsers.list();
        await sample();
        await Promise.race([acting, setTimeout(SAMPLE_INTERVAL_MS)]);
      }
      await acting;
      await sample();
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

/** A client of CDP, WebDriver BiDi or the live view. */
async function connect(address: string) {
  const socket = new WebSocket(address, { maxPayload: 0 });
  const waiting = new Map<number, (result: unknown) => void>();
  let bytes = 0;
  let last = 0;
  let sessionId: string | undefined;
  socket.on('message', (data: Buffer, isBinary) => {
    bytes += data.length;
    // Responses are small; large events are not parsed.
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
    /** Number of received bytes. */
    bytes: () => bytes,
    attach: async (targetId: string): Promise<void> => {
      const attached = await call('Target.attachToTarget', { targetId, flatten: true });
      ({ sessionId } = attached as { sessionId: string });
      await call('Runtime.enable');
    },
    evaluate: (expression: string) => call('Runtime.evaluate', { expression }),
  };
}
