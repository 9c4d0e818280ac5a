import type { FastifyReply } from 'fastify';
import type { ServerResponse } from 'node:http';

/** How often a stream proves that it is alive, in milliseconds: below the idle limits of common proxies. */
export const HEARTBEAT_MS = 15_000;
/** How long a reader may leave a full stream unread, in milliseconds, before it is cut off. */
const STUCK_READER_MS = 60_000;

/** Writes server-sent events to one reader. */
export interface EventWriter {
  /** Resolves when the reader can take more; rejects when it is gone or stuck. `id` only where a reader may resume. */
  send(event: string, data: Record<string, unknown>, id?: number): Promise<void>;
  end(): void;
}

/**
 * Takes the reply over and flushes its headers at once: clients wait for them, not for the first event.
 * Heartbeats are left out while the reader is behind.
 * @param onGone called once when the reader has gone or is cut off.
 */
export function startEvents(reply: FastifyReply, clock: () => Date, onGone: () => void): EventWriter {
  reply.hijack();
  const { raw } = reply;
  const headers = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined);
  for (const [name, value] of headers) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-sse-content-type': 'application/json',
    // A stream is the last answer of its connection: it ends with the service, not with a keep-alive timeout.
    connection: 'close',
    // Proxies of the nginx kind would hold events back.
    'x-accel-buffering': 'no',
  });
  raw.flushHeaders();
  raw.on('error', onGone);
  raw.on('close', onGone);

  const heartbeat = setInterval(() => {
    if (raw.writableNeedDrain || raw.writableEnded) return;
    raw.write(frame('sse_heartbeat', { event: 'sse_heartbeat', timestamp: clock().toISOString() }));
  }, HEARTBEAT_MS);
  raw.on('close', () => clearInterval(heartbeat));

  return {
    async send(event, data, id) {
      if (raw.destroyed || raw.writableEnded) throw new Error('the reader is gone');
      if (raw.write(frame(event, data, id))) return;
      await drained(raw);
    },
    end() {
      clearInterval(heartbeat);
      if (!raw.writableEnded) raw.end();
    },
  };
}

/** Waits until the reader has taken what is buffered, or is gone; one that takes too long is cut off. */
function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const stuck = setTimeout(() => raw.destroy(), STUCK_READER_MS);
    const settle = () => {
      clearTimeout(stuck);
      raw.removeListener('drain', settle);
      raw.removeListener('close', settle);
      resolve();
    };
    raw.on('drain', settle);
    raw.on('close', settle);
  });
}

function frame(event: string, data: Record<string, unknown>, id?: number): string {
  const lines = [`event: ${event}`, ...(id === undefined ? [] : [`id: ${id}`]), `data: ${JSON.stringify(data)}`];
  return `${lines.join('\n')}\n\n`;
}
