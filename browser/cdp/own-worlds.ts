import type { RawData } from 'ws';
import { toText } from './messages.ts';

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
