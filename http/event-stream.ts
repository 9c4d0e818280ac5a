import type { FastifyReply } from 'fastify';
import { waitForDrain, STALLED_CLIENT_MS } from './slow-clients.ts';

/** Heartbeat interval of a silent stream, below the idle timeouts of common proxies. */
const HEARTBEAT_MS = 15_000;

/** Server-sent events to one client. */
export interface EventStream {
  /** Sends complete frames (each ends with an empty line). Resolves when the client can take more, or is gone. */
  send(frames: string): Promise<void>;
  end(): void;
  /** True if the client is gone or the stream was ended. */
  closed(): boolean;
  onClose(listener: () => void): void;
}

/** {@link openEventStream} */
export interface EventStreamOptions {
  /** Creates a heartbeat frame; default: a comment, which clients ignore. */
  heartbeat?: () => string;
  /** How long a client may leave a full buffer unread before it is disconnected, in milliseconds. */
  stuckAfterMs?: number;
}

/** Serializes an event. `id` only for streams that can be resumed. */
export function eventFrame(event: string, data: unknown, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Hijacks a reply and flushes its headers at once, since clients wait for them rather than for the first event. */
export function startStream(
  reply: FastifyReply,
  status: number,
  headers: Record<string, string> = {},
): FastifyReply['raw'] {
  reply.hijack();
  const { raw } = reply;
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(status, headers);
  raw.flushHeaders();
  if (reply.request.method === 'HEAD') raw.end();
  return raw;
}

/** Starts an event stream. Nothing is queued for a slow client: the caller waits for {@link EventStream.send}, and heartbeats are skipped. */
export function openEventStream(reply: FastifyReply, options: EventStreamOptions = {}): EventStream {
  const { heartbeat = () => ': keepalive\n\n', stuckAfterMs = STALLED_CLIENT_MS } = options;
  const raw = startStream(reply, 200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-sse-content-type': 'application/json',
    // The stream is the last response of its connection and ends with the service, not with a keep-alive timeout.
    connection: 'close',
    // Keeps nginx and similar proxies from buffering events.
    'x-accel-buffering': 'no',
  });
  raw.on('error', () => raw.destroy());
  let lastSent = Date.now();
  const beat = setInterval(() => {
    if (raw.writableNeedDrain || raw.writableEnded || Date.now() - lastSent < HEARTBEAT_MS / 2) return;
    raw.write(heartbeat());
  }, HEARTBEAT_MS);
  beat.unref();
  raw.once('close', () => clearInterval(beat));

  return {
    send: async (frames) => {
      if (raw.destroyed || raw.writableEnded) return;
      lastSent = Date.now();
      if (!raw.write(frames)) await waitForDrain(raw, stuckAfterMs);
    },
    end: () => {
      clearInterval(beat);
      if (!raw.writableEnded) raw.end();
    },
    closed: () => raw.destroyed || raw.writableEnded,
    onClose: (listener) => void raw.once('close', listener),
  };
}
