import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import type { z } from 'zod';
import { BrowserServiceError, unavailable, invalidResponse } from './errors.ts';

/** What a call resolves to: without a schema, nothing. */
export type Answer<Schema> = Schema extends z.ZodType ? z.infer<Schema> : null;

/** An answer that comes in pieces as one, when it is no longer than what is expected of it. */
export async function readWhole(answer: Readable, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of answer) {
      const data = Buffer.from(piece as Uint8Array);
      size += data.length;
      if (size > maxBytes) break;
      pieces.push(data);
    }
  } catch {
    throw unavailable('The answer of the browser service broke off; retry');
  }
  if (size > maxBytes) throw invalidResponse('The answer of the browser service is too large');
  return Buffer.concat(pieces);
}

/** Peers answer an empty 200 where nothing is to be said; only what was asked for must have its shape. */
export function parseAnswer<Schema extends z.ZodType | null>(schema: Schema, text: string): Answer<Schema>;
export function parseAnswer(schema: z.ZodType | null, text: string): unknown {
  if (schema === null) return null;
  const parsed = schema.safeParse(readJson(text));
  if (!parsed.success) throw invalidResponse('The browser service answered in an unknown shape; check its version');
  return parsed.data;
}

/** Largest event that is taken from a peer, in characters. */
const MAX_EVENT = 16 * 1024 * 1024;

/**
 * The events of a server-sent stream, each parsed. Peers send signs of life and things of their own among them: what has
 * not the expected shape is left out; an `error` event and a stream that breaks off throw `browser_error`.
 */
export async function* readEvents<Schema extends z.ZodType>(
  stream: Readable,
  schema: Schema,
  signal?: AbortSignal,
): AsyncGenerator<z.infer<Schema>> {
  let events: unknown[] = [];
  const parser = createParser({
    maxBufferSize: MAX_EVENT,
    onEvent: ({ data }) => {
      events.push(readJson(data));
    },
  });
  const decoder = new TextDecoder();
  try {
    for await (const piece of stream) {
      parser.feed(decoder.decode(piece as Uint8Array, { stream: true }));
      const arrived = events;
      events = [];
      for (const event of arrived) {
        if (isError(event)) throw brokenStream('The browser service ended the stream with an error; retry');
        const frame = schema.safeParse(event);
        if (frame.success) yield frame.data;
      }
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof BrowserServiceError
      ? error
      : brokenStream('The stream of the browser service broke off; retry');
  } finally {
    stream.destroy();
  }
}

/** Null for what is no JSON. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isError(event: unknown): boolean {
  return typeof event === 'object' && event !== null && 'event' in event && event.event === 'error';
}

function brokenStream(message: string): BrowserServiceError {
  return new BrowserServiceError('browser_error', message, true);
}
