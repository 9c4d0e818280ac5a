import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import type { z } from 'zod';
import { failure } from './service.ts';

/** Largest event that is taken from a peer, in characters. */
const MAX_EVENT = 16 * 1024 * 1024;

/**
 * The events of a server-sent stream, each parsed. Peers send signs of life and things of their own among them: what has
 * not the expected shape is left out; an `error` event and a stream that breaks off throw `browser_error`.
 */
export async function* readFrames<Schema extends z.ZodType>(
  stream: Readable,
  schema: Schema,
  signal?: AbortSignal,
): AsyncGenerator<z.infer<Schema>> {
  let events: unknown[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data }) => {
      events.push(parsed(data));
    },
  });
  const decoder = new TextDecoder();
  try {
    for await (const piece of stream) {
      parser.feed(decoder.decode(piece as Uint8Array, { stream: true }));
      const arrived = events;
      events = [];
      for (const event of arrived) {
        if (isError(event)) throw failure('browser_error', 'the browser service ended the stream with an error', false);
        const frame = schema.safeParse(event);
        if (frame.success) yield frame.data;
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof Error && 'type' in error
      ? error
      : failure('browser_error', 'the stream of the browser service broke off', false);
  } finally {
    stream.destroy();
  }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function isError(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'event' in event && event.event === 'error';
}
