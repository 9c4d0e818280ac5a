import type { RawData } from 'ws';

/** A client's command, as far as the service needs to understand it. */
export interface ClientCommand {
  id: number;
  method: string;
  params?: Record<string, unknown>;
  sessionId?: string;
}

/** The bytes of a message, however ws delivers them. */
export function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

/** Parses a client's command; null if it is not one. */
export function readCommand(text: string): ClientCommand | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { id, method, params, sessionId } = value as Partial<Record<keyof ClientCommand, unknown>>;
    if (typeof id !== 'number' || typeof method !== 'string') return null;
    if (params !== undefined && (typeof params !== 'object' || params === null)) return null;
    // Rebuilt, so that the browser gets exactly what was checked, without a duplicate `method` member.
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

/** A response to a command that is not forwarded; `body` holds its `result` or `error`. */
export function answerCommand(command: ClientCommand, body: Record<string, unknown>): string {
  return JSON.stringify({
    id: command.id,
    ...(command.sessionId === undefined ? {} : { sessionId: command.sessionId }),
    ...body,
  });
}

/** Name of the isolated world the service uses in pages, hidden from pages and clients. */
export const INTERNAL_WORLD = 'holdfast-telemetry';

/** How Chromium serializes the creation event and the world's name in it; a page cannot put a quote into either. */
const CONTEXT_CREATED = '{"method":"Runtime.executionContextCreated"';
const NAME_MEMBER = `"name":"${INTERNAL_WORLD}"`;

/**
 * True for the event that the internal world was created, which Chromium sends to every client with `Runtime` enabled and
 * which must not be forwarded. Its destruction may be: clients never learned its id.
 */
export function isInternalWorldEvent(data: RawData): boolean {
  const text = toBuffer(data);
  return text.toString('latin1', 0, CONTEXT_CREATED.length) === CONTEXT_CREATED && text.includes(NAME_MEMBER);
}
