import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { STUCK_READER_MS } from './stuck-reader.ts';

/** How often a silent stream proves that it is alive, in milliseconds: below the idle limits of common proxies. */
const KEEPALIVE_MS = 15_000;

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

/** Takes a reply over and flushes its headers at once: clients wait for them, not for the first event. */
export function openEventStream(reply: FastifyReply, stuckAfterMs: number = STUCK_READER_MS): EventStream {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-sse-content-type': 'application/json',
    // A stream is the last answer of its connection.
    connection: 'close',
    // Proxies of the nginx kind would hold events back.
    'x-accel-buffering': 'no',
  });
  raw.flushHeaders();
  raw.on('error', () => raw.destroy());
  let lastSent = Date.now();
  const keepalive = setInterval(() => {
    if (raw.writableNeedDrain || raw.writableEnded || Date.now() - lastSent < KEEPALIVE_MS / 2) return;
    raw.write(': keepalive\n\n');
  }, KEEPALIVE_MS);
  keepalive.unref();
  raw.once('close', () => {
    clearInterval(keepalive);
  });

  return {
    send: async (frames) => {
      if (raw.destroyed || raw.writableEnded) return;
      lastSent = Date.now();
      if (!raw.write(frames)) await drained(raw, stuckAfterMs);
    },
    end: () => {
      if (!raw.writableEnded) raw.end();
    },
    closed: () => raw.destroyed || raw.writableEnded,
    onClose: (listener) => {
      raw.once('close', listener);
    },
  };
}

/** Waits until the reader has taken what is buffered, or is gone; one that takes too long is cut off. */
function drained(raw: ServerResponse, stuckAfterMs: number): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(stuck);
      raw.off('drain', settle).off('close', settle);
      resolve();
    };
    const stuck = setTimeout(() => raw.destroy(), stuckAfterMs);
    stuck.unref();
    raw.on('drain', settle).on('close', settle);
  });
}
