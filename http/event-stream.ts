import type { FastifyReply } from 'fastify';
import { drained, STUCK_READER_MS } from './slow-clients.ts';

/** How often a silent stream proves that it is alive, in milliseconds: below the idle limits of common proxies. */
const HEARTBEAT_MS = 15_000;

/** Server-sent events to one reader. */
export interface EventStream {
  /** Sends whole frames (each ends with an empty line). Resolves when the reader can take more, or has gone. */
  send(frames: string): Promise<void>;
  end(): void;
  /** True when the reader has gone or was cut off, or the stream has been ended. */
  closed(): boolean;
  /** Calls back once the stream has closed, for whatever cause. */
  onClose(listener: () => void): void;
}

/** {@link openEventStream} */
export interface EventStreamOptions {
  /** Makes the frame of a heartbeat; a comment, which no reader sees, by default. */
  heartbeat?: () => string;
  /** How long a reader may leave a full stream unread, in milliseconds, before it is cut off. */
  stuckAfterMs?: number;
}

/** One event as it goes over the wire. `id` only where a reader may resume. */
export function eventFrame(event: string, data: unknown, id?: number): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Takes a reply over and flushes its headers at once: clients wait for them, not for the first event. */
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
  // Nothing follows the headers that HEAD asks for.
  if (reply.request.method === 'HEAD') raw.end();
  return raw;
}

/**
 * Begins a stream of events, its headers flushed at once. A reader that is
 * behind gets no queue of its own: the caller waits for {@link EventStream.send}, and heartbeats are left out.
 */
export function openEventStream(reply: FastifyReply, options: EventStreamOptions = {}): EventStream {
  const { heartbeat = () => ': keepalive\n\n', stuckAfterMs = STUCK_READER_MS } = options;
  const raw = startStream(reply, 200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-sse-content-type': 'application/json',
    // A stream is the last answer of its connection: it ends with the service, not with a keep-alive timeout.
    connection: 'close',
    // Proxies of the nginx kind would hold events back.
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
      if (!raw.write(frames)) await drained(raw, stuckAfterMs);
    },
    end: () => {
      clearInterval(beat);
      if (!raw.writableEnded) raw.end();
    },
    closed: () => raw.destroyed || raw.writableEnded,
    onClose: (listener) => void raw.once('close', listener),
  };
}
