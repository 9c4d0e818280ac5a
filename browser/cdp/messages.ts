import type { RawData } from 'ws';
import type { ClientCommand } from './guard.ts';

/** The bytes of a message, however they arrived. */
export function toText(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** Reads a client's command; null when it is none. */
export function readCommand(text: string): ClientCommand | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { id, method, params, sessionId } = value as Partial<Record<keyof ClientCommand, unknown>>;
    if (typeof id !== 'number' || typeof method !== 'string') return null;
    if (params !== undefined && (typeof params !== 'object' || params === null)) return null;
    // Built anew, so that the browser reads exactly what was judged: no second `method` can hide in it.
    return {
      id,
      method,
      ...(params === undefined ? {} : { params: params as Record<string, unknown> }),
      ...(typeof sessionId === 'string' ? { sessionId } : {}),
    };
  } catch {
    return null;
  }
}

/** An answer to a command that the browser never sees; `body` holds its `result` or `error`. */
export function answerCommand(command: ClientCommand, body: Record<string, unknown>): string {
  return JSON.stringify({
    id: command.id,
    ...(command.sessionId === undefined ? {} : { sessionId: command.sessionId }),
    ...body,
  });
}

/** Name of the script world that the service keeps for itself in pages, apart from theirs and from those of clients. */
export const INTERNAL_WORLD = 'holdfast-telemetry';

/** How Chromium begins the event that tells of a new world, and the name in it; a page cannot put a quote into either. */
const CREATED = '{"method":"Runtime.executionContextCreated"';
const NAMED = `"name":"${INTERNAL_WORLD}"`;

/**
 * True for the event that a world of the service's own has come. Chromium tells it to every client that follows worlds;
 * they are not to see it. That such a world has gone says nothing to them: they never knew its number.
 */
export function isInternalWorldEvent(data: RawData): boolean {
  const text = toText(data);
  return text.toString('latin1', 0, CREATED.length) === CREATED && text.includes(NAMED);
}
