import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { FocusedControl } from '../../../contract/screencast.ts';
import type { InputAction } from '../deps.ts';
import type { FlowView } from '../view.ts';

/** Outcome of a call: its response, an error code, or no response at all (`offline`). */
export type Outcome<Value> =
  | { kind: 'ok'; value: Value }
  | { kind: 'rejected'; status: number; code: string }
  | { kind: 'offline' };

/** A person's answer to one interaction. */
export interface Answer {
  interaction_id: string;
  field_values?: Record<string, string>;
  selected_choice_id?: string;
  /** Reports that this is not the right form. */
  wrong_form?: true;
}

/** Timeout of a call in milliseconds, generous enough for a slow phone network. */
const CALL_TIMEOUT_MS = 30_000;
/** Longest silence on a stream before it counts as dead, in milliseconds: the server sends a heartbeat every 15 s. */
const STREAM_SILENCE_MS = 40_000;
/** Marks requests as our own (see api/cross-origin.ts). */
const HEADERS = { 'x-holdfast-page': '1' };

/** The page's endpoints are below its own path, wherever the installation is mounted. */
export function endpoint(name: 'exchange' | 'state' | 'events' | 'submit' | 'picture' | 'hands'): string {
  return `${location.pathname.replace(/\/+$/, '')}/${name}`;
}

export function exchange(code: string, attempt: string): Promise<Outcome<FlowView>> {
  return call('exchange', { method: 'POST', body: JSON.stringify({ code, attempt }) });
}

export function readState(): Promise<Outcome<FlowView>> {
  return call('state', { method: 'GET' });
}

/** Sends an answer. The caller clears the inputs once it is accepted. */
export function submitAnswer(answer: Answer): Promise<Outcome<unknown>> {
  return call('submit', { method: 'POST', body: JSON.stringify(answer) });
}

/**
 * Sends input to the site's page and returns the control that has the focus afterwards (null: unchanged). Failures need no
 * handling: the screencast shows that nothing happened.
 */
export function sendInput(actions: InputAction[]): Promise<Outcome<{ focus: FocusedControl | null }>> {
  return call('hands', { method: 'POST', body: JSON.stringify({ actions }) });
}

/** Opens an event stream. The caller reads the body and handles statuses other than 200. */
export function openStream(
  name: 'events' | 'picture',
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(endpoint(name), { headers: { ...HEADERS, ...headers }, cache: 'no-store', signal });
}

/** Reads server-sent events until the stream ends. `onData` is called before each read. Rejects if the connection breaks. */
export async function readEvents(
  response: Response,
  onData: () => void,
  onEvent: (event: EventSourceMessage) => void,
): Promise<void> {
  if (response.body === null) throw new Error('no body');
  const parser = createParser({ onEvent });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    onData();
    const { value, done } = await reader.read();
    if (done) return;
    parser.feed(value);
  }
}

/** Calls `onTimeout` if it is not fed for too long. */
export function createWatchdog(onTimeout: () => void): { feed: () => void; stop: () => void } {
  let timer = setTimeout(onTimeout, STREAM_SILENCE_MS);
  return {
    feed() {
      clearTimeout(timer);
      timer = setTimeout(onTimeout, STREAM_SILENCE_MS);
    },
    stop: () => clearTimeout(timer),
  };
}

async function call<Value>(
  name: 'exchange' | 'state' | 'submit' | 'hands',
  init: RequestInit,
): Promise<Outcome<Value>> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), CALL_TIMEOUT_MS);
  const json = init.method === 'POST' ? { 'content-type': 'application/json' } : {};
  try {
    const response = await fetch(endpoint(name), {
      ...init,
      headers: { ...HEADERS, ...json },
      cache: 'no-store',
      signal: timeout.signal,
    });
    const body: unknown = await response.json().catch(() => null);
    // Trusted: our own server shares the type (view.ts).
    if (response.ok && body !== null) return { kind: 'ok', value: body as Value };
    return { kind: 'rejected', status: response.status, code: codeOf(body) };
  } catch {
    return { kind: 'offline' };
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string' ? body.code : '';
}
