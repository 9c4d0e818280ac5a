import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';
import type { z } from 'zod';
import { BrowserServiceError, unavailable, invalidResponse } from './errors.ts';

/** What a call resolves to; null without a schema. */
export type Answer<Schema> = Schema extends z.ZodType ? z.infer<Schema> : null;

/** Reads a streamed response into memory. Throws if it is longer than `maxBytes`. */
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
    throw unavailable('The browser service’s response broke off; retry');
  }
  if (size > maxBytes) throw invalidResponse('The browser service’s response is too large');
  return Buffer.concat(pieces);
}

/** Parses a response. Without a schema any body is fine: other implementations send an empty 200. */
export function parseAnswer<Schema extends z.ZodType | null>(schema: Schema, text: string): Answer<Schema>;
export function parseAnswer(schema: z.ZodType | null, text: string): unknown {
  if (schema === null) return null;
  const parsed = schema.safeParse(readJson(text));
  if (!parsed.success) throw invalidResponse('The browser service sent an unexpected response; check its version');
  return parsed.data;
}

/** Largest event that is accepted, in characters. */
const MAX_EVENT = 16 * 1024 * 1024;

/**
 * Yields the parsed events of a server-sent stream and ignores those of any other shape, such as heartbeats. Throws
 * `browser_error` for an `error` event and when the stream breaks off.
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
    throw error instanceof BrowserServiceError ? error : brokenStream('The browser service’s stream broke off; retry');
  } finally {
    stream.destroy();
  }
}

/** Null for invalid JSON. */
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
